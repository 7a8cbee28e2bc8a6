import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { World } from '@hqrelay/testing/world';

/** The contents of the tables. Keys are `<webhook>/<endpoint>`. */
export type Ledger = {
  /** Rows of `webhook_logs` that owe deliveries. */
  queued: { id: string; projectId: string; webhookId: string; endpointIds: string[] }[];
  states: Map<string, 'waiting' | 'held' | 'delivered' | 'dead_lettered'>;
  /** Rows of one delivery and attempt, by `<webhook>/<endpoint>/<attempt>`. */
  attempts: Map<string, number>;
};

/** Reads the tables, and adds the audit rows that are still in the broker, which are durable too. */
export async function readLedger({ sql }: World, spilled: readonly AuditRow[]): Promise<Ledger> {
  const queued = await sql.query<Ledger['queued'][number]>(
    `select id, project_id as "projectId", webhook_id as "webhookId", endpoint_ids as "endpointIds"
     from webhook_logs where status = 'queued'`,
  );
  const states = await sql.query<{ key: string; state: 'waiting' | 'held' | 'delivered' | 'dead_lettered' }>(
    `select webhook_log_id || '/' || endpoint_id as key, state from delivery_status`,
  );
  const attempts = await sql.query<{ key: string; count: number }>(
    `select webhook_log_id || '/' || endpoint_id || '/' || attempt_num as key, count(*)::int as count
     from delivery_attempts group by 1`,
  );
  const ledger: Ledger = {
    queued: queued.rows,
    states: new Map(states.rows.map((row) => [row.key, row.state])),
    attempts: new Map(attempts.rows.map((row) => [row.key, row.count])),
  };
  for (const row of spilled) addSpilled(ledger, row);
  return ledger;
}

/** A row that the tables have already is not added: writing it again changes nothing. */
function addSpilled(ledger: Ledger, row: AuditRow): void {
  if (row.kind === 'webhook') {
    const { id, projectId, webhookId, endpointIds, status } = row.log;
    if (status !== 'queued' || ledger.queued.some((each) => each.id === id)) return;
    ledger.queued.push({ id, projectId, webhookId, endpointIds: [...endpointIds] });
    return;
  }
  const { webhookLogId, endpointId, attemptNum, status } = row.attempt;
  const key = `${webhookLogId}/${endpointId}`;
  if (!ledger.attempts.has(`${key}/${attemptNum}`)) ledger.attempts.set(`${key}/${attemptNum}`, 1);
  if (status !== 'failed') ledger.states.set(key, status);
}

/** The progress of the deliveries, by queries that are cheap enough to poll. */
export type Progress = {
  /** Deliveries that ended or are held for longer than a row takes. */
  ended: number;
  /** Deliveries that are held until an endpoint takes them again. */
  held: number;
  outbox: number;
};

export async function readProgress({ sql }: World): Promise<Progress> {
  const { rows } = await sql.query<{ finished: number; parked: number; held: number; outbox: number }>(
    `select (select count(distinct delivery_id)::int from delivery_attempts where status in ('delivered', 'dead_lettered')) as finished,
       (select count(*)::int from held_deliveries h join endpoints e on e.id = h.endpoint_id
        where h.reason = 'delay' or e.paused or not e.enabled) as parked,
       (select count(*)::int from held_deliveries) as held,
       (select count(*)::int from outbox) as outbox`,
  );
  const { finished, parked, held, outbox } = rows[0] as (typeof rows)[number];
  return { ended: finished + parked, held: held - parked, outbox };
}
