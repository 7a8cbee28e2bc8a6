// The receiver's work without the product: HTTP, HMAC, one Lua call, a confirmed publish to a quorum queue, and the log
// and payload rows committed in batches; 202 when both are durable.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Batches } from './batches.mjs';
import { uuidv7 } from './uuidv7.mjs';

const { DATABASE_URL, REDIS_URL, RABBITMQ_URL, RECEIVER_PORT, PROJECT_ID, ENDPOINT_ID, SECRET } =
  /** @type {Record<string, string>} */ (process.env);

const reserve = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return 1 end
return 0`;
const redis = new Redis(REDIS_URL ?? '', { enableAutoPipelining: true });
const sha1 = String(await redis.script('LOAD', reserve));

const broker = await connect(RABBITMQ_URL ?? '', { noDelay: true });
const channel = await broker.createConfirmChannel();
await channel.assertQueue('bare.webhooks', { durable: true, arguments: { 'x-queue-type': 'quorum' } });

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 8 });
const insert = `
with batch as materialized (
  select * from json_to_recordset($1::json) as r(id uuid, "webhookId" text, sha256 text, bytes int, at bigint, start int,
    headers jsonb)
), payloads as (
  insert into webhook_payloads (id, payload, headers, query, received_at)
  select id, substring($2::bytea from start + 1 for bytes), headers, '', to_timestamp(at / 1000.0) from batch
)
insert into webhook_logs (id, project_id, webhook_id, event_type, status, endpoint_ids, payload_sha256, payload_bytes,
  remote_addr, correlation_id, received_at)
select id, $3, "webhookId", 'payment.captured', 'queued', array[$4::uuid], sha256, bytes, '127.0.0.1', id::text,
  to_timestamp(at / 1000.0)
from batch`;
/** @type {Batches<{ facts: Record<string, unknown>; body: Buffer }>} */
const rows = new Batches(async (batch) => {
  let start = 0;
  const facts = batch.map(({ facts, body }) => {
    const fact = JSON.stringify({ ...facts, start });
    start += body.length;
    return fact;
  });
  const blob = Buffer.concat(batch.map(({ body }) => body));
  await pool.query(insert, [`[${facts.join()}]`, blob, PROJECT_ID, ENDPOINT_ID]);
});

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
  request.once('end', () => {
    accept(request, Buffer.concat(chunks)).then(
      ({ statusCode, id }) => {
        const body = JSON.stringify({ id, status: 'queued' });
        response.writeHead(statusCode, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        });
        response.end(body);
      },
      () => response.writeHead(503).end(),
    );
  });
});
server.listen(Number(RECEIVER_PORT), '127.0.0.1');

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {Buffer} body
 */
async function accept(request, body) {
  const signature = Buffer.from(String(request.headers['x-hub-signature-256']));
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', SECRET ?? '')
      .update(body)
      .digest('hex')}`,
  );
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    return { statusCode: 401 };
  }
  const at = Date.now();
  const id = uuidv7(at, randomBytes(10));
  const webhookId = String(request.headers['x-webhook-id']);
  JSON.parse(body.toString());
  const reserved = await redis.evalsha(sha1, 1, `bare:{${PROJECT_ID}}:${webhookId}`, id, 86_400);
  if (reserved !== 1) return { statusCode: 202, id };
  /** @type {[string, string][]} */
  const headers = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    headers.push([String(request.rawHeaders[index]), String(request.rawHeaders[index + 1])]);
  }
  const sha256 = createHash('sha256').update(body).digest('hex');
  await Promise.all([
    publish(id, headers, body),
    rows.add({ facts: { id, webhookId, sha256, bytes: body.length, at, headers }, body }),
  ]);
  return { statusCode: 202, id };
}

/**
 * @param {string} id
 * @param {[string, string][]} headers
 * @param {Buffer} body
 */
function publish(id, headers, body) {
  const envelope = Buffer.from(JSON.stringify({ id, headers }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(envelope.length);
  return new Promise((resolve, reject) => {
    channel.publish(
      '',
      'bare.webhooks',
      Buffer.concat([length, envelope, body]),
      { persistent: true, mandatory: true },
      (error) =>
        error ? reject(error instanceof Error ? error : new Error('not confirmed')) : resolve(undefined),
    );
  });
}
