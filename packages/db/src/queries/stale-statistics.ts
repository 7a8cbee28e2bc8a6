/** The length of a bucket of the statistics. */
export const bucketMs = 30 * 60_000;

/** How long after the end of a bucket its rows are late. The bucket is counted minutes later, so no row is missed in between. */
const lateAfterMs = 60_000;

/** All in ms since epoch. */
export function startOfBucket(at: number): number {
  return at - (at % bucketMs);
}

/**
 * The buckets that rows of these times make stale, as timestamps; null when none is late, as always while the stores are up. The
 * time of the row alone decides, so that a batch costs the writer no statement and no look at what is counted.
 */
export function staleBuckets(times: readonly number[], now: number): string[] | null {
  const lateBefore = startOfBucket(now - lateAfterMs);
  const late = times.filter((at) => at < lateBefore);
  if (late.length === 0) return null;
  return [...new Set(late.map(startOfBucket))].map((at) => new Date(at).toISOString());
}

/** The beginning of a WITH clause that marks the buckets of a parameter in the transaction of the rows. */
export function markStale(parameter: string): string {
  return `marks as (insert into statistics_stale (bucket_at) select unnest(${parameter}::timestamptz[]))`;
}
