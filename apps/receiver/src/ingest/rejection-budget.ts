/** A token bucket of `perSecond` and `burst`: requests that are not verified cannot fill the tables. */
export function createRejectionBudget(perSecond: number, burst: number): (now: number) => boolean {
  let tokens = burst;
  let filledAt = 0;
  return (now) => {
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAt) / 1_000) * perSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
