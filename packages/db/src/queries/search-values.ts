import { lowestIdAt } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';

/** Receivers commit within it; a row that comes later is indexed when its bucket of the statistics is counted. */
const settledAfter = '5 s';
const rowsMax = 500;
/** Of a payload that is parsed. */
const bytesMax = 1 << 20;

const insertValues = (webhooks: string) => `
insert into webhook_search_values (project_id, webhook_log_id, value, received_at)
select w.project_id, w.id, v.value, w.received_at from (${webhooks}) as w
join projects p on p.id = w.project_id
join webhook_payloads y on y.id = w.id and y.received_at = w.received_at
cross join lateral hqrelay_search_values(case when octet_length(y.payload) <= ${bytesMax} then y.payload end, p.search_keys) as v (value)
on conflict do nothing`;

const keyed = `project_id in (select id from projects where search_keys <> '{}')`;

/**
 * Indexes the next payloads of the projects that have search keys. Returns whether more of them wait. One worker indexes at a
 * time; another returns false at once.
 */
export async function indexSearchValues(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ from: Date; lastId: string; to: Date }>(
      `select indexed_to as "from", last_id as "lastId", now() - interval '${settledAfter}' as to
       from search_progress for update skip locked`,
    );
    const progress = rows[0];
    if (!progress || progress.to <= progress.from) return false;
    await lockSearchValues(client);
    const { from, lastId, to } = progress;
    const webhooks = await client.query<{ id: string; receivedAt: Date }>(
      `select id, received_at as "receivedAt" from webhook_logs
       where ${keyed} and received_at >= $1 and received_at < $2 and (received_at, id) > ($1, $3::uuid)
       order by received_at, id limit ${rowsMax}`,
      [from, to, lastId],
    );
    await client.query(
      insertValues('select * from webhook_logs where id = any($1) and received_at between $2 and $3'),
      [webhooks.rows.map(({ id }) => id), from, to],
    );
    const last = webhooks.rows.length === rowsMax ? webhooks.rows.at(-1) : undefined;
    await client.query('update search_progress set indexed_to = $1, last_id = $2', [
      last?.receivedAt ?? to,
      last?.id ?? lowestIdAt(0),
    ]);
    return last !== undefined;
  });
}

/** Indexes the payloads of a period that have no value yet, in the transaction of `client`. */
export async function indexLateSearchValues(
  client: pg.PoolClient,
  period: readonly [from: Date, to: Date],
): Promise<void> {
  const { rowCount } = await client.query(`select from projects where search_keys <> '{}' limit 1`);
  if (!rowCount) return;
  await lockSearchValues(client);
  await client.query(
    insertValues(`select * from webhook_logs l where ${keyed} and received_at >= $1 and received_at < $2 and not exists (
      select from webhook_search_values s where s.webhook_log_id = l.id and s.received_at = l.received_at)`),
    [...period],
  );
}

/** Until the transaction ends, no payload is deleted whose values are being inserted. */
async function lockSearchValues(client: pg.PoolClient): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtext('hqrelay_search_values'))`);
}
