/** The longest attempt, whatever its endpoint's row says. */
const attemptTimeoutMaxMs = 120_000;

/** How long an attempt to this endpoint may take, ms. */
export function attemptTimeoutMs(endpoint: { timeoutMs: number }): number {
  return Math.min(endpoint.timeoutMs, attemptTimeoutMaxMs);
}
