import { readAttemptCounts, readCounted, readReceived } from '@hqrelay/db/queries/statistics';
import type pg from 'pg';
import type { z } from 'zod';
import type { sparkline } from '../schemas/statistics.ts';
import { spanOf } from './read-statistics.ts';

type Sparkline = z.input<typeof sparkline>;

const hourMs = 3_600_000;
const hours = 24;
const accepted: ReadonlySet<string> = new Set(['queued', 'duplicate']);

/** The last 24 hours of UTC of some projects, the current one included, in one query each for what came and what was attempted. */
export async function readSparklines(
  pool: pg.Pool,
  projectIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, Sparkline>> {
  const end = now - (now % hourMs) + hourMs;
  const starts = Array.from({ length: hours }, (_, index) => end - (hours - index) * hourMs);
  const span = spanOf({ starts, end, isFine: false, now }, await readCounted(pool));
  const shown = starts.filter((at) => at < span.asOf).length;
  const zeros = () => Array.from({ length: shown }, () => 0);
  const lines = new Map(
    projectIds.map((projectId): [string, Sparkline] => [
      projectId,
      {
        since: new Date(end - hours * hourMs),
        asOf: new Date(span.asOf),
        received: zeros(),
        rejected: zeros(),
        delivered: zeros(),
        failed: zeros(),
      },
    ]),
  );
  const add = (counts: number[] | undefined, step: number, count: number) => {
    if (counts && step < shown) counts[step] = (counts[step] ?? 0) + count;
  };
  for (const { projectId, step, status, requests } of await readReceived(pool, projectIds, span)) {
    const line = lines.get(projectId);
    add(line?.received, step, requests);
    if (!accepted.has(status)) add(line?.rejected, step, requests);
  }
  const attempts = await readAttemptCounts(pool, { projectIds, byEndpoint: false, times: false }, span);
  for (const { projectId, step, delivered, failed, dead_lettered } of attempts) {
    const line = lines.get(projectId);
    add(line?.delivered, step, delivered);
    add(line?.failed, step, failed + dead_lettered);
  }
  return lines;
}
