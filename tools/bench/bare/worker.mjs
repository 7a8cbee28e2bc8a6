// The worker's work without the product: consume, POST over kept-alive connections, the attempt's row committed in batches, ack.
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
import pg from 'pg';
import { Pool } from 'undici';
import { Batches } from './batches.mjs';
import { uuidv7 } from './uuidv7.mjs';

const { DATABASE_URL, RABBITMQ_URL, PROJECT_ID, ENDPOINT_ID, ENDPOINT_URL } =
  /** @type {Record<string, string>} */ (process.env);

const hopByHop = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);
const { origin, pathname } = new URL(ENDPOINT_URL ?? '');
const endpoint = new Pool(origin, { connections: 1_000 });
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const insert = `
insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status,
  status_code, latency_ms, response_body, correlation_id, attempted_at)
select id, "deliveryId", "webhookLogId", $2, $3, 'live', 1, 'delivered', "statusCode", "latencyMs", body,
  "webhookLogId"::text, to_timestamp(at / 1000.0)
from json_to_recordset($1::json) as r(id uuid, "deliveryId" uuid, "webhookLogId" uuid, "statusCode" int, "latencyMs" int,
  body text, at bigint)`;
/** @type {Batches<Record<string, unknown>>} */
const rows = new Batches(async (batch) => {
  await pool.query(insert, [JSON.stringify(batch), PROJECT_ID, ENDPOINT_ID]);
});

const broker = await connect(RABBITMQ_URL ?? '', { noDelay: true });
const channel = await broker.createChannel();
await channel.assertQueue('bare.webhooks', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
await channel.prefetch(1_000);
await channel.consume('bare.webhooks', (message) => {
  if (message) {
    deliver(Buffer.from(message.content)).then(
      () => channel.ack(message),
      () => channel.nack(message),
    );
  }
});

/** @param {Buffer} content */
async function deliver(content) {
  const end = 4 + content.readUInt32BE(0);
  const { id, headers } = /** @type {{ id: string; headers: [string, string][] }} */ (
    JSON.parse(content.toString('utf8', 4, end))
  );
  const at = Date.now();
  const startedAt = performance.now();
  const response = await endpoint.request({
    path: pathname,
    method: 'POST',
    headers: [
      ...headers.filter(([name]) => !hopByHop.has(name.toLowerCase())).flat(),
      'webhook-id',
      id,
      'x-hqrelay-attempt',
      '1',
    ],
    body: content.subarray(end),
  });
  const body = await response.body.text();
  await rows.add({
    id: uuidv7(at, randomBytes(10)),
    deliveryId: deliveryId(id),
    webhookLogId: id,
    statusCode: response.statusCode,
    latencyMs: Math.round(performance.now() - startedAt),
    body,
    at,
  });
}

/** @param {string} id */
function deliveryId(id) {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
