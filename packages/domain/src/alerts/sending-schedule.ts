const delaysMs = [10_000, 30_000, 60_000, 300_000, 900_000];
const laterDelayMs = 3_600_000;
/** A message is tried for so long, hourly in the end. */
const giveUpAfterMs = 7 * 86_400_000;
/** A sender that crashed lets another worker try after it; longer than any try takes. */
export const claimMs = 120_000;
/** A channel is broken when so many tries in a row have failed. */
export const failuresToBreak = 3;

/** When a message is tried again after its attempt `attemptNum` failed; undefined when it is given up. ms since epoch. */
export function nextTryAt(
  { createdAt, attemptNum }: { createdAt: number; attemptNum: number },
  now: number,
): number | undefined {
  const delayMs = delaysMs[attemptNum - 1] ?? laterDelayMs;
  return now + delayMs > createdAt + giveUpAfterMs ? undefined : now + delayMs;
}
