import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { rollUpStatistics } from '@hqrelay/db/queries/roll-up-statistics';
import { readCounted } from '@hqrelay/db/queries/statistics';
import pg from 'pg';

export type LoadOptions = {
  pool: pg.Pool;
  webhooks: number;
  projects: number;
  /** How long the webhooks reach back. */
  days: number;
  /** ms since epoch. */
  now: number;
  say: (line: string) => void;
};

const dayMs = 86_400_000;
/** Days whose statistics are counted; a worker would count the others too. */
const countedDays = 31;

/** A fifth of the webhooks is the first project's; the others share the rest. */
export const projectId = (index: string) => `md5('project ' || ${index})::uuid`;
const endpointId = (project: string) => `md5('endpoint ' || ${project}::text)::uuid`;
const projectOf = `case when n % 5 = 0 then ${projectId('0')} else ${projectId('(1 + n % ($1::int - 1))')} end`;
const idOf = (ms: string) =>
  `(lpad(to_hex(${ms}), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid`;
const statusOf = `case when n % 100 = 5 then 'rejected' when n % 50 = 15 then 'duplicate' else 'queued' end`;

/** In the order of their times, so that the rows lie as receivers would have written them. $1 projects, $2 from, $3 step, $4 first, $5 last. */
const numbered = `select n, ${projectOf} as project_id, ($2::float8 + n * $3::float8)::bigint as ms, ${statusOf} as status
  from generate_series($4::int, $5::int) n`;

const insertWebhooks = `
insert into webhook_logs (id, project_id, webhook_id, event_type, status, reason, endpoint_ids, payload_bytes, correlation_id, received_at)
select ${idOf('ms')}, project_id, 'evt-' || n, 'type.' || n % 17, status::webhook_status, case when status = 'rejected' then 'signature.mismatch' end,
  case when status = 'queued' then array[${endpointId('project_id')}] else '{}' end, 40,
  case when n % 10 = 5 then 'client-' || n else ${idOf('ms')}::text end, to_timestamp(ms / 1000.0)
from (${numbered}) as r`;

const insertPayloads = `
insert into webhook_payloads (id, payload, headers, query, received_at)
select ${idOf('ms')}, convert_to('{"order":' || n || ',"amount":1999}', 'UTF8'), '[]', '', to_timestamp(ms / 1000.0)
from (${numbered}) as r where status <> 'rejected'`;

// One delivery in 40 fails once, one in 1,000 is dead after two attempts, one in 2,000 is held.
const insertAttempts = `
insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, status_code, latency_ms,
  error, correlation_id, attempted_at)
select ${idOf('at')}, hqrelay_delivery_id(id, endpoint_id), id, project_id, endpoint_id, (array['live', 'retry'])[num]::lane, num,
  outcome::attempt_status, case when outcome = 'delivered' then 200 else 503 end, (20 * exp(random() * 3))::int,
  case when outcome <> 'delivered' then case when n % 200000 = 35 then 'TLS certificate' else 'HTTP 503' end end, 'c', to_timestamp(at / 1000.0)
from (
  select n, ${idOf('ms')} as id, project_id, ${endpointId('project_id')} as endpoint_id, num, ms + (num - 1) * 5000 as at,
    case when n % 1000 = 35 then (array['failed', 'dead_lettered'])[num]
      when n % 40 = 0 and num = 1 then 'failed' else 'delivered' end as outcome
  from (${numbered}) as r, generate_series(1, case when n % 40 = 0 or n % 1000 = 35 then 2 else 1 end) as num
  where status = 'queued' and n % 2000 <> 25
) as a`;

const insertEnded = [
  `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
   select delivery_id, 'delivery', 'schedule used up', project_id, webhook_log_id, endpoint_id, attempted_at from delivery_attempts
   where status = 'dead_lettered'`,
  `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
   select hqrelay_delivery_id(id, endpoint_ids[1]), id, endpoint_ids[1], 'delay', now(), received_at, 'hqrelay.retries', ''
   from webhook_logs where status = 'queued' and substr(webhook_id, 5)::int % 2000 = 25`,
];

/** Fills the tables with webhooks, what became of them, and the statistics of the last month. */
export async function load(options: LoadOptions): Promise<void> {
  const { pool, now, say } = options;
  await loadAudit(options);
  for (const statement of insertEnded) await pool.query(statement);
  await pool.query('vacuum (analyze)');
  await countStatistics(pool, now);
  await pool.query('vacuum (analyze) received_statistics, attempt_statistics');
  say('the statistics are counted');
}

/** Fills `webhook_logs`, `webhook_payloads` and `delivery_attempts` alone. */
export async function loadAudit({ pool, webhooks, projects, days, now, say }: LoadOptions): Promise<void> {
  const startedAt = performance.now();
  const from = now - days * dayMs;
  for (let at = from; at < now + dayMs; at += 20 * dayMs) await ensurePartition(pool, at);
  await ensurePartition(pool, now);
  await insertProjects(pool, projects);
  const rebuild = await dropIndexes(pool);
  const step = (now - 60_000 - from) / webhooks;
  const insert = async (statement: string) => {
    for (let first = 1; first <= webhooks; first += 500_000) {
      const last = Math.min(webhooks, first + 499_999);
      await pool.query(statement, [projects, from, step, first, last]);
    }
  };
  await Promise.all([insert(insertAttempts), insert(insertWebhooks).then(() => insert(insertPayloads))]);
  say(`${webhooks} webhooks are loaded after ${seconds(startedAt)} s`);
  await rebuild();
  say(`the indexes are built after ${seconds(startedAt)} s`);
}

async function insertProjects(pool: pg.Pool, projects: number): Promise<void> {
  await pool.query(
    `with made as (insert into projects (id, name) select ${projectId('n')}, 'project ' || n from generate_series(0, $1::int - 1) n returning id)
     insert into endpoints (id, project_id, url, retry_schedule, timeout_ms)
     select ${endpointId('id')}, id, 'https://example.com/', '{}', 10000 from made`,
    [projects],
  );
}

/** Drops the indexes that are slow to maintain, and returns a function that builds them again. */
async function dropIndexes(pool: pg.Pool): Promise<() => Promise<void>> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid in ('webhook_logs'::regclass, 'delivery_attempts'::regclass) and not i.indisprimary`,
  );
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  return async () => {
    const half = rows.length >> 1;
    const build = async (some: typeof rows) => {
      for (const { definition } of some) await pool.query(definition.replace(' ON ONLY ', ' ON '));
    };
    await build(rows.slice(0, half));
    await build(rows.slice(half));
  };
}

async function countStatistics(pool: pg.Pool, now: number): Promise<void> {
  while (await rollUpStatistics(pool)) {
    const { from } = await readCounted(pool);
    if (from === null || from < now - countedDays * dayMs) return;
  }
}

function seconds(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}
