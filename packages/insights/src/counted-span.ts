import type { Queryable } from '@hqrelay/db/queryable';
import { readCounted, type Span } from '@hqrelay/db/queries/statistics';
import type { Period } from '@hqrelay/domain/insights/facts';

const dayMs = 86_400_000;

/**
 * The period before and the period as two steps of the statistics. What is not counted yet is read from rows, of a day at most.
 * `hasBefore`: whether all of the period before is counted.
 */
export async function readCountedSpan(
  client: Queryable,
  { since, until, previousSince }: Period,
): Promise<{ span: Span; hasBefore: boolean }> {
  const counted = await readCounted(client);
  const isBehind = until - counted.to > dayMs;
  const end = isBehind ? Math.max(since, Math.min(until, counted.to)) : until;
  return {
    span: { starts: [previousSince, since], end, rowsFrom: counted.to },
    hasBefore: counted.from === null || counted.from <= previousSince,
  };
}
