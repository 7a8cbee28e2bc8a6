import fc from 'fast-check';
import type { OrderSite } from './order-site.ts';
import { describeFaults, round, schedulesPerRound } from './random-round.ts';
import { runRound } from './run-round.ts';

export type SearchOptions = {
  seed: number;
  schedules: number;
  /** Of the report of an earlier search with this seed: begins with the round that it found. */
  path?: string | undefined;
  /** Whether the search ends at the first fault, instead of looking for a shorter round with a fault. */
  endOnFailure?: boolean;
  say: (line: string) => void;
};

/** For a shorter round with a fault, beside the time of the rounds themselves. */
const shrinkWithinMs = 300_000;
const roundWithinMs = 120_000;

/** Searches random rounds for one that breaks the order. Undefined when there is none, or a report with its seed and path. */
export async function searchProcesses(
  site: OrderSite,
  { seed, schedules, path, endOnFailure = false, say }: SearchOptions,
): Promise<string | undefined> {
  const rounds = Math.ceil(schedules / schedulesPerRound);
  let runs = 0;
  const keepsOrder = fc.asyncProperty(round, async (given) => {
    runs += 1;
    const startedAt = performance.now();
    const problems = await runRound(site, given).catch((error: unknown) => [
      `the round could not be run: ${String(error)}`,
    ]);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    say(`round ${runs}, ${describeFaults(given)}: ${problems[0] ?? 'in order'} (${seconds} s)`);
    if (problems.length > 0) throw new Error(problems.join('; '));
  });
  const result = await fc.check(keepsOrder, {
    seed,
    numRuns: rounds,
    endOnFailure,
    includeErrorInReport: true,
    ...(path !== undefined && { path }),
    plugins: [fc.interruptAfterTimeLimit(rounds * roundWithinMs + shrinkWithinMs, { failOnInterrupt: true })],
  });
  return result.failed ? fc.defaultReportMessage(result) : undefined;
}
