import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { Queryable } from '../queryable.ts';
import { readDeadLetterPage } from './dead-letter-pages.ts';
import type { PageLimit, ReplayCandidate, ReplayCursor, ReplayPage } from './replay-page.ts';
import type { ReplaySelection } from './replay-selection.ts';
import {
  insertReplays,
  newReplay,
  readRecordedWebhooks,
  markDeadLettersReplayed,
  type EncodeReplay,
} from './replays.ts';
import { readOwedPage } from './owed-pages.ts';
import { readWebhookPage } from './webhook-pages.ts';

export type ReplayBatchOptions = {
  /** ms since epoch. */
  now: number;
  /** The message that a worker gets when a replay is due. */
  encode: EncodeReplay;
};

type Job = {
  selection: ReplaySelection;
  requested_by: string;
  rate_per_second: number;
  cursor_at: Date | null;
  cursor_id: string | null;
  next_due_at: Date;
};

/** A batch reaches this far ahead, so that the rate is kept although batches come about once a second. */
const aheadMs = 1_500;
const candidatesMax = 500;
/** Of payloads that are in memory at once. */
const bytesMax = 8 << 20;

/**
 * `continues`: another batch may follow at once. `waits`: all that is due soon is replayed. `ended`: the job is finished or
 * cancelled.
 */
export type BatchOutcome = { kind: 'continues' | 'waits' | 'ended'; replayed: number };

/**
 * Makes the next replays of a job in one transaction with the job's progress, so that a crash repeats nothing and loses
 * nothing. The replays are due one after another at the job's rate. Batches of all jobs run one after another, so that each
 * sees the replays of the others. Throws when Postgres fails.
 */
export async function runReplayBatch(
  pool: pg.Pool,
  jobId: string,
  { now, encode }: ReplayBatchOptions,
): Promise<BatchOutcome> {
  return inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtext('hqrelay_replays'))");
    const { rows } = await client.query<Job>(
      `select selection, requested_by, rate_per_second, cursor_at, cursor_id, next_due_at from replay_jobs
       where id = $1 and state = 'running' for update`,
      [jobId],
    );
    const job = rows[0];
    if (!job) return { kind: 'ended', replayed: 0 };
    const intervalMs = 1_000 / job.rate_per_second;
    const startAt = Math.max(now, job.next_due_at.getTime());
    const quota = Math.min(candidatesMax, Math.floor((now + aheadMs - startAt) / intervalMs) + 1);
    if (quota < 1) return { kind: 'waits', replayed: 0 };

    const after = job.cursor_at && job.cursor_id ? { at: job.cursor_at.getTime(), id: job.cursor_id } : null;
    const page = await readPage(client, job.selection, after, { candidatesMax: quota, bytesMax });
    const { candidates, notReplayed, next } = page;
    const dueAt = (index: number) => Math.floor(startAt + index * intervalMs);
    const options = { jobId, requestedBy: job.requested_by, now, encode };
    const replayed = await replay(client, candidates, dueAt, options);
    const nextDueAt = Math.ceil(startAt + candidates.length * intervalMs);
    await saveProgress(client, jobId, { replayed, notReplayed, next, nextDueAt, now });
    return { kind: next === null ? 'ended' : 'continues', replayed };
  });
}

/** How many deliveries a selection matches; `capped` when there are more, or counting took too long. Changes nothing. */
export async function countReplayable(
  pool: pg.Pool,
  selection: ReplaySelection,
  { countMax, withinMs }: { countMax: number; withinMs: number },
): Promise<{ count: number; capped: boolean; notReplayed: ReplayPage['notReplayed'] }> {
  const startedAt = performance.now();
  const notReplayed: ReplayPage['notReplayed'] = {};
  let count = 0;
  let cursor: ReplayCursor | null = null;
  do {
    const page: ReplayPage = await readPage(pool, selection, cursor, {
      candidatesMax,
      bytesMax: Infinity,
    });
    count += page.candidates.length;
    for (const [reason, more] of Object.entries(page.notReplayed) as [keyof typeof notReplayed, number][]) {
      notReplayed[reason] = (notReplayed[reason] ?? 0) + more;
    }
    cursor = page.next;
  } while (cursor !== null && count <= countMax && performance.now() - startedAt < withinMs);
  return { count: Math.min(count, countMax), capped: cursor !== null || count > countMax, notReplayed };
}

function readPage(
  client: Queryable,
  selection: ReplaySelection,
  after: ReplayCursor | null,
  limit: PageLimit,
): Promise<ReplayPage> {
  switch (selection.kind) {
    case 'webhooks':
      return readWebhookPage(client, selection, after, limit);
    case 'filtered_webhooks':
    case 'webhook_ids':
      return readOwedPage(client, selection, after, limit);
    case 'dead_letters':
    case 'dead_letter_ids':
      return readDeadLetterPage(client, selection, after, limit);
  }
}

/** Returns how many were replayed: a payload may have been dropped since its bytes were counted. */
async function replay(
  client: pg.PoolClient,
  candidates: readonly ReplayCandidate[],
  dueAt: (index: number) => number,
  options: ReplayBatchOptions & { jobId: string; requestedBy: string },
): Promise<number> {
  if (candidates.length === 0) return 0;
  const webhooks = await readRecordedWebhooks(
    client,
    candidates.map(({ webhookLogId }) => webhookLogId),
  );
  const replays = candidates.flatMap(({ webhookLogId, endpointId }, index) => {
    const webhook = webhooks.get(webhookLogId);
    if (!webhook) return [];
    const made = newReplay(webhookLogId, endpointId, options.now, dueAt(index));
    return [{ replay: made, message: options.encode(webhook, made) }];
  });
  await insertReplays(client, replays, options);
  await markDeadLettersReplayed(
    client,
    replays.map((each) => each.replay),
    options.now,
  );
  return replays.length;
}

async function saveProgress(
  client: pg.PoolClient,
  jobId: string,
  progress: {
    replayed: number;
    notReplayed: ReplayPage['notReplayed'];
    next: ReplayCursor | null;
    nextDueAt: number;
    now: number;
  },
): Promise<void> {
  const { replayed, notReplayed, next, nextDueAt, now } = progress;
  await client.query(
    `update replay_jobs set replayed = replayed + $2, next_due_at = $3,
       not_replayed = (
         select coalesce(jsonb_object_agg(reason, count), '{}') from (
           select reason, sum(count::int) as count
           from (select * from jsonb_each_text(not_replayed) union all select * from jsonb_each_text($4)) as e (reason, count)
           group by reason
         ) as summed
       ),
       cursor_at = coalesce($5, cursor_at), cursor_id = coalesce($6, cursor_id),
       state = case when $6::uuid is null then 'finished'::replay_job_state else state end,
       ended_at = case when $6::uuid is null then $7 else ended_at end
     where id = $1`,
    [
      jobId,
      replayed,
      new Date(nextDueAt),
      JSON.stringify(notReplayed),
      next && new Date(next.at),
      next?.id ?? null,
      new Date(now),
    ],
  );
}
