import { lowestIdAt } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { attemptFacts, countAttempts } from './count-attempts.ts';
import { bucketMs, startOfBucket } from './stale-statistics.ts';
import { indexLateSearchValues } from './search-values.ts';

/**
 * How long after its end a bucket is counted first. A writer marks a bucket from a minute after its end on, so that clocks may
 * differ by minutes and a statement may take seconds.
 */
const settledAfterMs = 10 * 60_000;

/** Of a bucket with millions of rows. */
const statementTimeout = '60s';

type Progress = { countedFrom: number; countedTo: number; isBackfilled: boolean; now: number };

/**
 * Counts one bucket: the next that has ended, else one that late rows made stale, else the newest of before the first. Returns
 * whether it counted one. One worker counts at a time; another returns false at once.
 */
export async function rollUpStatistics(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const progress = await lockProgress(client);
    if (!progress) return false;
    await client.query(`set local statement_timeout = '${statementTimeout}'`);
    return (
      (await rollUpNext(client, progress)) ||
      (await rollUpStale(client, progress)) ||
      (await backfill(client, progress))
    );
  });
}

/** Undefined while another worker counts. */
async function lockProgress(client: pg.PoolClient): Promise<Progress | undefined> {
  const { rows } = await client.query<{ from: Date; to: Date; isBackfilled: boolean; now: Date }>(
    `select counted_from as "from", counted_to as "to", is_backfilled as "isBackfilled", now() as now
     from statistics_progress for update skip locked`,
  );
  const row = rows[0];
  return (
    row && {
      countedFrom: row.from.getTime(),
      countedTo: row.to.getTime(),
      isBackfilled: row.isBackfilled,
      now: row.now.getTime(),
    }
  );
}

async function rollUpNext(client: pg.PoolClient, { countedTo, now }: Progress): Promise<boolean> {
  if (now < countedTo + bucketMs + settledAfterMs) return false;
  await countBucket(client, countedTo);
  await client.query('update statistics_progress set counted_to = $1', [new Date(countedTo + bucketMs)]);
  return true;
}

async function rollUpStale(
  client: pg.PoolClient,
  { countedFrom, countedTo, isBackfilled }: Progress,
): Promise<boolean> {
  const { rows } = await client.query<{ at: Date }>(
    'select bucket_at as at from statistics_stale where bucket_at >= $1 and bucket_at < $2 order by bucket_at desc limit 1',
    [isBackfilled ? '-infinity' : new Date(countedFrom), new Date(countedTo)],
  );
  if (!rows[0]) return false;
  await countBucket(client, rows[0].at.getTime());
  return true;
}

/** Counts the newest bucket with rows before those that are counted, or records that there is none. */
async function backfill(client: pg.PoolClient, progress: Progress): Promise<boolean> {
  if (progress.isBackfilled) return false;
  const newest = await newestBefore(client, progress.countedFrom);
  if (newest === null) {
    await client.query('update statistics_progress set is_backfilled = true');
    return false;
  }
  const bucket = startOfBucket(newest);
  await countBucket(client, bucket);
  await client.query('update statistics_progress set counted_from = $1', [new Date(bucket)]);
  return true;
}

async function newestBefore(client: pg.PoolClient, before: number): Promise<number | null> {
  const { rows } = await client.query<{ at: Date | null }>(
    `select greatest(
       (select received_at from webhook_logs where received_at < $1 and id < $2 order by id desc limit 1),
       (select attempted_at from delivery_attempts where attempted_at < $1 and id < $2 order by id desc limit 1)) as at`,
    [new Date(before), lowestIdAt(before)],
  );
  return rows[0]?.at?.getTime() ?? null;
}

const rowsOf = (at: string) => `${at} >= $1 and ${at} < $2 and id >= $3 and id < $4`;

const insertReceived = `
insert into received_statistics (project_id, bucket_at, status, requests)
select project_id, $1, status, sum(request_count) from webhook_logs where ${rowsOf('received_at')} group by project_id, status`;

const insertAttempts = `
with ${countAttempts(`select project_id, 0 as step, endpoint_id, ${attemptFacts} from delivery_attempts where ${rowsOf('attempted_at')}`)}
insert into attempt_statistics (project_id, bucket_at, endpoint_id, delivered, failed, dead_lettered, attempt_histogram, end_to_end_histogram)
select project_id, $1, endpoint_id, sum(delivered), sum(failed), sum(dead_lettered), string_agg(attempt_histogram, ''),
  string_agg(end_to_end_histogram, '')
from counted group by project_id, endpoint_id`;

/**
 * Counts a bucket anew. The marks go first: a mark that is visible here stands for rows that are visible below, and one that
 * is committed later stays.
 */
async function countBucket(client: pg.PoolClient, bucketAt: number): Promise<void> {
  const [from, to] = [new Date(bucketAt), new Date(bucketAt + bucketMs)];
  await client.query('delete from statistics_stale where bucket_at = $1', [from]);
  await client.query('delete from received_statistics where bucket_at = $1', [from]);
  await client.query('delete from attempt_statistics where bucket_at = $1', [from]);
  const period = [from, to, lowestIdAt(from.getTime()), lowestIdAt(to.getTime())];
  await client.query(insertReceived, period);
  await client.query(insertAttempts, period);
  await indexLateSearchValues(client, [from, to]);
}
