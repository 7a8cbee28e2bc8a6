import type pg from 'pg';

export type Filled = {
  projectIds: readonly string[];
  /** A webhook of the last hour with a failed attempt. */
  webhook: string;
};

const projects = 50;
const dayMs = 86_400_000;
/** Before now: a quarter of the webhooks came in the last day, a quarter in the month before it, half in the three months before. */
const spread = { dayMs, monthMs: 31 * dayMs, allMs: 123 * dayMs };

/**
 * Fills `webhook_logs` and `delivery_attempts` as receivers and workers do, oldest first: few projects with most of the
 * webhooks, three endpoints each, one endpoint in twenty that fails often, and refused requests. `now` in ms.
 */
export async function fillTables(
  pool: pg.Pool,
  { now, webhooks }: { now: number; webhooks: number },
): Promise<Filled> {
  const client = await pool.connect();
  try {
    for (let at = now - spread.allMs; at <= now + dayMs; at += 15 * dayMs)
      await client.query('select hqrelay_ensure_partition($1)', [new Date(at)]);
    await client.query('select hqrelay_ensure_partition($1)', [new Date(now)]);
    await client.query('set synchronous_commit = off');
    await client.query(makeProjects);
    await client.query(planWebhooks, [now, spread.allMs, spread.monthMs, spread.dayMs, webhooks]);
    await client.query(insertWebhooks);
    await client.query(insertAttempts);
    // As autovacuum does once a fifth of a partition is new.
    await client.query('vacuum (analyze) webhook_logs, delivery_attempts, projects, endpoints');
    const ids = await client.query<{ id: string }>('select id from projects');
    const failed = await client.query<{ id: string }>(
      `select webhook_log_id as id from delivery_attempts where status <> 'delivered' and attempted_at > $1 limit 1`,
      [new Date(now - 3_600_000)],
    );
    return { projectIds: ids.rows.map(({ id }) => id), webhook: failed.rows[0]?.id ?? '' };
  } finally {
    client.release();
  }
}

const makeProjects = `
with project as (
  insert into projects (id, name, rate_limit_per_minute)
  select md5('project ' || n)::uuid, 'project ' || n, null from generate_series(0, ${projects - 1}) n returning id
)
insert into endpoints (id, project_id, url, retry_schedule, timeout_ms)
select md5(project.id::text || n)::uuid, project.id, 'https://hooks' || n || '.example.com/in', '{5s,30s}', 10000
from project, generate_series(0, 2) n`;

// Every figure of a webhook is derived from its number, so that each run measures the same rows.
const planWebhooks = `
create temp table planned as
select n, ms, md5('project ' || project)::uuid as project_id, md5(md5('project ' || project)::uuid::text || endpoint)::uuid as endpoint_id,
  case when kind < 96 then 'queued' when kind < 99 then 'duplicate' else 'rejected' end as status,
  luck < case when (project * 3 + endpoint) % 20 = 0 then 0.4 else 0.01 end as fails,
  (10 + 400 * luck * luck * luck * (1 + endpoint))::int as latency_ms,
  encode(substring(int8send(ms) from 3), 'hex') as time, lpad(to_hex(n & 4095), 3, '0') as rand_a, lpad(to_hex(n), 12, '0') as rand_b
from generate_series(1, $5::int) n,
lateral (select n::float8 / $5::int as at, (hashint8(n)::bigint + 2147483648) / 4294967296.0 as luck,
  (hashint8(n + 7)::bigint + 2147483648) / 4294967296.0 as who, abs(hashint8(n + 13) % 100) as kind, abs(hashint8(n + 29) % 3) as endpoint) h,
lateral (select floor(${projects} * who * who * who)::int as project,
  ($1::float8 - case when at < 0.5 then $2::float8 - ($2::float8 - $3) * at / 0.5
    when at < 0.75 then $3::float8 - ($3::float8 - $4) * (at - 0.5) / 0.25
    else $4::float8 * (1 - (at - 0.75) / 0.25) end)::bigint as ms) t
order by n`;

const insertWebhooks = `
insert into webhook_logs (id, project_id, webhook_id, event_type, status, reason, endpoint_ids, payload_sha256, payload_bytes,
  remote_addr, correlation_id, received_at)
select (time || '7' || rand_a || '8000' || rand_b)::uuid, project_id, 'evt_' || n, 'type.' || n % 7, status::webhook_status,
  case when status = 'rejected' then 'signature.mismatch' end, array[endpoint_id], md5(n::text) || md5(n::text), 1000, '192.0.2.1',
  (time || '7' || rand_a || '8000' || rand_b)::uuid::text, to_timestamp(ms / 1000.0)
from planned order by n`;

// A failed first attempt is followed by a second one after 30 s, which fails as often as not.
const insertAttempts = `
insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, status_code,
  latency_ms, error, response_body, correlation_id, attempted_at, next_attempt_at)
select (encode(substring(int8send(at) from 3), 'hex') || '7' || rand_a || '9000' || rand_b)::uuid, md5(n::text)::uuid,
  (time || '7' || rand_a || '8000' || rand_b)::uuid, project_id, endpoint_id, case num when 1 then 'live' else 'retry' end::lane, num,
  case when not failed then 'delivered' when num = 1 then 'failed' else 'dead_lettered' end::attempt_status,
  case when failed then 503 else 200 end, latency_ms, case when failed then 'HTTP 503' end,
  case when failed then repeat('the service is unavailable. ', 10) else 'ok' end, (time || '7' || rand_a || '8000' || rand_b)::uuid::text,
  to_timestamp(at / 1000.0), case when failed and num = 1 then to_timestamp((ms + 30000) / 1000.0) end
from planned, generate_series(1, case when fails then 2 else 1 end) num,
lateral (select fails and (num = 1 or n % 2 = 0) as failed, ms + 20 + (num - 1) * 30000 as at) a
where status = 'queued' order by n`;
