/** How fast work that can wait may go beside work that cannot. Rates are per second, delays ms. */
export type YieldingRate = {
  perSecond: number;
  /** What the other work's delay is when nothing disturbs it: the lowest of each of the last minutes. */
  lowestByMinute: readonly { minute: number; delayMs: number }[];
};

/** So much gets through always: what can wait must not wait for ever. */
const leastPerSecond = 200;
const mostPerSecond = 5_000;
const firstPerSecond = 250;
const minutesKept = 10;
/** A delay above this many times the undisturbed one, and a little, is a disturbance. */
const disturbedFactor = 1.3;
const disturbedSlackMs = 1.5;
const slowDownBy = 0.7;
/** Of the rate, each time nothing was disturbed. */
const speedUpBy = 1.04;

export const initialYieldingRate: YieldingRate = { perSecond: firstPerSecond, lowestByMinute: [] };

/**
 * After a while in which the other work had this typical delay: slower at once when it was disturbed, and carefully faster
 * when it was not. The idea is LEDBAT's (RFC 6817), a transport for bulk traffic that gives way to everything else.
 */
export function afterWindow(
  rate: YieldingRate,
  { delayMs, now }: { delayMs: number; now: number },
): YieldingRate {
  const minute = Math.floor(now / 60_000);
  const others = rate.lowestByMinute.filter(
    (each) => each.minute !== minute && each.minute > minute - minutesKept,
  );
  const current = rate.lowestByMinute.find((each) => each.minute === minute)?.delayMs ?? delayMs;
  const lowestByMinute = [...others, { minute, delayMs: Math.min(current, delayMs) }];
  const undisturbedMs = Math.min(...lowestByMinute.map((each) => each.delayMs));
  const isDisturbed = delayMs > undisturbedMs * disturbedFactor + disturbedSlackMs;
  const perSecond = isDisturbed ? rate.perSecond * slowDownBy : rate.perSecond * speedUpBy;
  return { perSecond: Math.min(mostPerSecond, Math.max(leastPerSecond, perSecond)), lowestByMinute };
}
