import { setTimeout as wait } from 'node:timers/promises';
import { withDatabase } from '../../apps/cli/src/database.ts';

const recordedWithinMs = 10_000;

/** Statements about one webhook, as an engineer can run them in psql. */
const statements = (id: string) => [
  `select received_at, status, event_type, webhook_id, payload_bytes, correlation_id\n  from webhook_logs where id = '${id}'`,
  `select endpoint_id, attempt_num, lane, status, status_code, error, latency_ms, attempted_at, next_attempt_at\n  from delivery_attempts where webhook_log_id = '${id}' order by attempted_at`,
  `select endpoint_id, state, attempts, last_status_code, delivered_at\n  from delivery_status where webhook_log_id = '${id}'`,
];

/** Waits until all the webhook's deliveries are recorded, then returns its rows, under the statements that select them. */
export async function formatWebhook(databaseUrl: string, id: string): Promise<string> {
  return withDatabase(databaseUrl, async (pool) => {
    const deadline = Date.now() + recordedWithinMs;
    const isDelivered = `select 1 from webhook_logs w where id = $1 and not exists (select from delivery_status d where d.webhook_log_id = w.id and state <> 'delivered')`;
    while ((await pool.query(isDelivered, [id])).rowCount === 0) {
      if (Date.now() > deadline) throw new Error(`the deliveries of webhook ${id} were not recorded`);
      await wait(50);
    }
    const parts: string[] = [];
    for (const statement of statements(id)) {
      const { rows } = await pool.query<Record<string, unknown>>(statement);
      parts.push(`${statement};\n${rows.map(formatRow).join('\n')}`);
    }
    return parts.join('\n\n').replace(/^/gm, '    ');
  });
}

function formatRow(row: Record<string, unknown>): string {
  const fields = Object.entries(row).map(
    ([name, value]) => `${name} = ${value instanceof Date ? value.toISOString() : String(value)}`,
  );
  return `  → ${fields.join(', ')}`;
}
