/** How many background items per second may start beside the foreground work. Rates are per second, delays in ms. */
export type YieldingRate = {
  perSecond: number;
  /** The lowest delay of the foreground work in each of the last minutes: an estimate of its delay when undisturbed. */
  lowestByMinute: readonly { minute: number; delayMs: number }[];
};

/** A floor, so that background work never starves. */
const leastPerSecond = 200;
const mostPerSecond = 5_000;
const firstPerSecond = 250;
const minutesKept = 10;
/** A delay above the undisturbed one times this factor, plus the slack, is a disturbance. */
const disturbedFactor = 1.3;
const disturbedSlackMs = 1.5;
const slowDownFactor = 0.7;
const speedUpFactor = 1.04;

export const initialYieldingRate: YieldingRate = { perSecond: firstPerSecond, lowestByMinute: [] };

/**
 * The rate after a window in which the foreground work had the typical delay `delayMs`: much lower when that work was
 * disturbed, slightly higher when it was not. The idea is LEDBAT's (RFC 6817), a transport for bulk traffic that yields to all
 * other traffic.
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
  const perSecond = isDisturbed ? rate.perSecond * slowDownFactor : rate.perSecond * speedUpFactor;
  return { perSecond: Math.min(mostPerSecond, Math.max(leastPerSecond, perSecond)), lowestByMinute };
}
