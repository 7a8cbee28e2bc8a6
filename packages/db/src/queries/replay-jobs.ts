import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';
import type { WhyNotReplayed } from './replay-page.ts';
import type { ReplayedWebhook, ReplaySelection } from './replay-selection.ts';

export type ReplayJobState = 'running' | 'finished' | 'cancelled';

export type ReplayJob = {
  id: string;
  /** Null when its dead letters are of several projects. */
  projectId: string | null;
  selection: ReplaySelection | ReplayedWebhook;
  ratePerSecond: number;
  requestedBy: string;
  state: ReplayJobState;
  /** How many deliveries it selected when it was created; at least that many when `countCapped`. */
  count: number;
  countCapped: boolean;
  replayed: number;
  notReplayed: Partial<Record<WhyNotReplayed, number>>;
  createdAt: Date;
  endedAt: Date | null;
};

export type NewReplayJob = Pick<
  ReplayJob,
  'id' | 'projectId' | 'selection' | 'ratePerSecond' | 'requestedBy' | 'count' | 'countCapped'
>;

const columns = `id, project_id as "projectId", selection, rate_per_second as "ratePerSecond", requested_by as "requestedBy",
  state, count, count_capped as "countCapped", replayed, not_replayed as "notReplayed", created_at as "createdAt",
  ended_at as "endedAt"`;

/** Inserts a job, which workers begin at once. `now` in ms since the epoch. */
export async function insertReplayJob(
  client: pg.PoolClient,
  job: NewReplayJob,
  now: number,
): Promise<ReplayJob> {
  const { rows } = await client.query<ReplayJob>(
    `insert into replay_jobs (id, project_id, selection, rate_per_second, requested_by, count, count_capped, next_due_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [
      job.id,
      job.projectId,
      JSON.stringify(job.selection),
      job.ratePerSecond,
      job.requestedBy,
      job.count,
      job.countCapped,
      new Date(now),
    ],
  );
  return rows[0] as ReplayJob;
}

/** Ends a job of which the caller has made every replay, before its insert is committed. */
export async function finishReplayJob(client: pg.PoolClient, { id, count }: ReplayJob): Promise<void> {
  await client.query(
    `update replay_jobs set state = 'finished', replayed = $2, ended_at = now() where id = $1`,
    [id, count],
  );
}

/** Null when there is none. */
export async function readReplayJob(client: Queryable, jobId: string): Promise<ReplayJob | null> {
  const { rows } = await client.query<ReplayJob>(`select ${columns} from replay_jobs where id = $1`, [jobId]);
  return rows[0] ?? null;
}

/** The jobs of one project, or all of them, the newest first. */
export async function listReplayJobs(
  pool: pg.Pool,
  { projectId, limit }: { projectId: string | undefined; limit: number },
): Promise<ReplayJob[]> {
  const { rows } = await pool.query<ReplayJob>(
    `select ${columns} from replay_jobs where $1::uuid is null or project_id = $1 order by id desc limit $2`,
    [projectId ?? null, limit],
  );
  return rows;
}

/** The ids of the jobs that workers have to continue, the oldest first. */
export async function listRunningReplayJobs(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from replay_jobs where state = 'running' order by id",
  );
  return rows.map(({ id }) => id);
}

/** How many replays of a job are in which state. */
export async function countReplaysOfJob(
  pool: pg.Pool,
  jobId: string,
): Promise<Partial<Record<string, number>>> {
  const { rows } = await pool.query<{ state: string; count: number }>({
    text: `select state, count(*)::int as count from replay_status
      where job_id = $1 and requested_at >= hqrelay_time_of($1) - interval '1 hour' group by state`,
    values: [jobId],
    query_timeout: 60_000,
  } as pg.QueryConfig);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** Cancels a running job and returns it as it is then; null when it is not running. Replays that were made are still sent. */
export async function cancelReplayJob(client: pg.PoolClient, jobId: string): Promise<ReplayJob | null> {
  const { rows } = await client.query<ReplayJob>(
    `update replay_jobs set state = 'cancelled', ended_at = now() where id = $1 and state = 'running' returning ${columns}`,
    [jobId],
  );
  return rows[0] ?? null;
}

/** Cancels the running jobs of a project, or of one endpoint. Returns their ids. */
export async function cancelReplayJobsOf(
  client: pg.PoolClient,
  of: { projectId: string } | { endpointId: string },
): Promise<string[]> {
  const [condition, id] =
    'projectId' in of ? ['project_id = $1', of.projectId] : [`selection->>'endpointId' = $1`, of.endpointId];
  const { rows } = await client.query<{ id: string }>(
    `update replay_jobs set state = 'cancelled', ended_at = now() where ${condition} and state = 'running' returning id`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** A page of the jobs of one project. */
export function readReplayJobPage(
  client: Queryable,
  projectId: string,
  page: PageRequest,
): Promise<ReplayJob[]> {
  const where = ['project_id = $1'];
  const list = { columns, from: 'replay_jobs', where, values: [projectId], at: 'created_at', id: 'id' };
  return readKeysetPage<ReplayJob>(client, list, page);
}
