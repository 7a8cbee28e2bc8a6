import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { credentialHeaders } from '@hqrelay/domain/inbound/forwarded-headers';
import { signAsProvider } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LogRow, openReceiverWorld, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld();
let project: SeededProject;

beforeAll(async () => {
  project = await seedProject(world);
});

describe('the id of a webhook', () => {
  it.each([
    [
      'is its X-Webhook-Id rather than its Idempotency-Key',
      ['X-Webhook-Id', 'evt_1', 'Idempotency-Key', 'key_1'],
      'evt_1',
    ],
    ['is its Idempotency-Key if it has no X-Webhook-Id', ['Idempotency-Key', 'key_2'], 'key_2'],
    [
      'is its Idempotency-Key if its X-Webhook-Id is empty',
      ['X-Webhook-Id', '', 'Idempotency-Key', 'key_3'],
      'key_3',
    ],
    ['may be 255 bytes long', ['X-Webhook-Id', 'a'.repeat(255)], 'a'.repeat(255)],
    ['is replaced by its hash from 256 bytes on', ['X-Webhook-Id', 'a'.repeat(256)], hashed('a'.repeat(256))],
    ['is replaced by its hash when it has control characters', ['X-Webhook-Id', 'a\tb'], hashed('a\tb')],
    ['may be UTF-8', ['X-Webhook-Id', onTheWire('évènement ₹')], 'évènement ₹'],
    ['has its length counted in bytes', ['X-Webhook-Id', onTheWire('₹'.repeat(86))], hashed('₹'.repeat(86))],
    [
      'is replaced by its hash when it is not UTF-8',
      ['X-Webhook-Id', 'caf\xe9'],
      hashed(Buffer.from('caf\xe9', 'latin1')),
    ],
  ])('the id of a webhook %s', async (_name, headers, expected) => {
    const { row } = await accept({ headers, body: randomBody() });
    expect(row.webhook_id).toBe(expected);
  });

  it('the id of a webhook without one is the hash of its body, so that another body is a new webhook', async () => {
    const body = randomBody();
    const { row, id } = await accept({ body });
    expect(row.webhook_id).toBe(createHash('sha256').update(body).digest('hex'));
    expect((await send({ body })).headers['idempotent-replayed']).toBe('true');
    expect((await accept({ body: randomBody() })).id).not.toBe(id);
  });

  it('two ids that differ beyond 255 bytes are the ids of two webhooks', async () => {
    const [one, other] = ['a'.repeat(300), `${'a'.repeat(299)}b`];
    const first = await accept({ headers: ['X-Webhook-Id', one] });
    const second = await accept({ headers: ['X-Webhook-Id', other] });
    expect(second.id).not.toBe(first.id);
  });
});

describe('the event type of a webhook', () => {
  it.each([
    [
      'its header, before its body',
      ['X-Event-Type', 'order.paid'],
      '{"event":"payment.captured"}',
      'order.paid',
    ],
    ['the event of its body', [], '{"type":"c","event_type":"b","event":"a"}', 'a'],
    ['the event_type of its body', [], '{"type":"c","event_type":"b","event":7}', 'b'],
    ['the type of its body', [], '{"type":"c","event":""}', 'c'],
    [
      'taken from a body that is not declared as JSON too',
      ['Content-Type', 'text/plain'],
      '{"event":"a"}',
      'a',
    ],
    [
      'taken from a body with a byte order mark too',
      ['Content-Type', 'application/json'],
      '\ufeff{"event":"a"}',
      'a',
    ],
    ['null if neither header nor body names one', ['Content-Type', 'application/json'], '["event"]', null],
    ['null if it has control characters', [], '{"event":"a\\u0000b"}', null],
    ['null if it has half a surrogate pair', [], '{"event":"a\\ud800"}', null],
  ])('the event type of a webhook is %s', async (_name, headers, text, expected) => {
    const body = Buffer.from(text);
    const { row } = await accept({
      headers: [...headers, 'X-Webhook-Id', randomBytes(8).toString('hex')],
      body,
    });
    expect(row.event_type).toBe(expected);
  });
});

describe('the bytes of a webhook', () => {
  it('the bytes of a webhook are stored as they were received, whatever encoding and type they declare', async () => {
    const bodies = [
      {
        body: gzipSync('{"event":"a"}'),
        headers: ['Content-Encoding', 'gzip', 'Content-Type', 'application/json'],
      },
      { body: randomBytes(50_000), headers: ['Content-Type', 'application/octet-stream'] },
      { body: Buffer.from('{"event":"a\u0000",\r\n "n":1.00}\n'), headers: ['Content-Type', 'text/plain'] },
      { body: Buffer.from([0x7b, 0xff, 0x00, 0xfe]), headers: [] },
    ];
    for (const sent of bodies) {
      const { id, row } = await accept(sent);
      const payload = await world.payloadOf(id);
      expect(payload?.payload.equals(sent.body)).toBe(true);
      expect(row.payload_bytes).toBe(sent.body.length);
      expect(row.payload_sha256).toBe(createHash('sha256').update(sent.body).digest('hex'));
    }
  });

  it('the query of a webhook is stored with its payload', async () => {
    const body = randomBody();
    const headers = Object.entries(signAsProvider(project, body)).flat();
    const answer = await sendRaw(`${world.webhooksUrl(project.id)}?a=1&b=%20x`, { headers, body });
    const { id } = JSON.parse(answer.text) as { id: string };
    expect((await world.payloadOf(id))?.query).toBe('a=1&b=%20x');
  });
});

describe('the headers of a webhook', () => {
  it('the headers of a webhook are stored in their order and spelling, except hop-by-hop headers', async () => {
    const sent: [string, string][] = [
      ['X-One', '1'],
      ['x-TWO', '2'],
      ['X-One', 'again'],
      ['Connection', 'X-Hop'],
      ['X-Hop', 'removed'],
      ['TE', 'trailers'],
      ['Keep-Alive', 'timeout=5'],
      ['Expect', '100-continue'],
      ['Webhook-Id', 'msg_1'],
    ];
    const { id } = await accept({
      headers: sent.flat(),
      chunked: true,
    });
    const stored = (await world.payloadOf(id))!.headers.filter(([name]) => !/^x-(hub|webhook)/i.test(name));
    expect(stored).toEqual([
      ['X-One', '1'],
      ['x-TWO', '2'],
      ['X-One', 'again'],
      ['Webhook-Id', 'msg_1'],
    ]);
  });

  it('the headers of a webhook are stored with the exact bytes of their values', async () => {
    const { id } = await accept({ headers: ['X-Note', onTheWire('₹ café')] });
    expect((await world.payloadOf(id))!.headers).toContainEqual(['X-Note', onTheWire('₹ café')]);
  });

  it('credential headers and project secrets are in no table, no message and no log line', async () => {
    const names = [...credentialHeaders];
    expect(names).toEqual(
      expect.arrayContaining([
        'authorization',
        'proxy-authorization',
        'cookie',
        'x-api-key',
        'x-gitlab-token',
        'verif-hash',
      ]),
    );
    const credential = randomBytes(12).toString('hex');
    const headers = names.flatMap((name, index) => [
      index % 2 ? name : name.toUpperCase(),
      `Bearer ${credential}`,
    ]);
    const webhookId = randomBytes(8).toString('hex');
    const { id } = await accept({
      headers: [...headers, 'X-Webhook-Id', webhookId, 'X-Kept', 'kept', 'X-Any-Name', project.secret],
    });
    const conflict = await send({
      headers: [...headers, 'X-Webhook-Id', webhookId],
      body: Buffer.from('other'),
    });
    expect(conflict.statusCode).toBe(409);
    await sendRaw(world.webhooksUrl(project.id), { headers });
    await world.waitForLogs(project.id, 'conflict');
    await world.waitForLogs(project.id, 'rejected');

    const { rows } = await world.sql.query<{ text: string }>(
      `select row_to_json(w)::text || row_to_json(p)::text as text from webhook_logs w left join webhook_payloads p using (id)
       union all select row_to_json(w)::text from webhook_logs w`,
    );
    const messages = await queuedMessages();
    const everything = [JSON.stringify(rows), ...messages, JSON.stringify(world.logs)];
    expect(messages.some((message) => message.includes(id) && message.includes('X-Kept'))).toBe(true);
    for (const text of everything) expect(text).not.toContain(credential);
    for (const text of everything) expect(text).not.toContain(project.secret);
  });
});

describe('the places of secrets in credential headers', () => {
  it('the places of secrets in credential headers are stored, and null without credential headers', async () => {
    const webhookId = randomBytes(8).toString('hex');
    const headers = ['Authorization', `Bearer ${project.secret}`, 'X-Webhook-Id', webhookId];
    const { id } = await accept({ headers });
    const { rows } = await world.sql.query('select id from project_secrets where project_id = $1', [
      project.id,
    ]);
    const credentials = [{ name: 'Authorization', secretId: rows[0].id, before: 'Bearer ', after: '' }];
    expect((await world.payloadOf(id))!.credentials).toEqual(credentials);
    expect((await world.payloadOf((await accept({})).id))!.credentials).toBeNull();

    const conflict = await send({ headers, body: Buffer.from('other') });
    expect(conflict.statusCode).toBe(409);
    const row = await waitFor('its row', async () =>
      (await world.logsOf(project.id, 'conflict')).find((each) => each.webhook_id === webhookId),
    );
    expect((await world.payloadOf(row.id))!.credentials).toEqual(credentials);
  });
});

async function accept(options: { headers?: readonly string[]; body?: Buffer; chunked?: boolean }) {
  const answer = await send(options);
  expect(answer.statusCode).toBe(202);
  const { id } = JSON.parse(answer.text) as { id: string };
  const row = (await world.logsOf(project.id, 'queued')).find((each) => each.id === id) as LogRow;
  return { id, row };
}

function send({ headers = [], body = randomBody(), chunked = false }: Parameters<typeof accept>[0]) {
  const signature = Object.entries(signAsProvider(project, body)).flat();
  return sendRaw(world.webhooksUrl(project.id), {
    headers: [...headers, ...signature],
    body: chunked ? [body] : body,
  });
}

/** The messages that the broker holds; they stay in their queue. */
async function queuedMessages(): Promise<string[]> {
  const vhost = new URL(world.rabbitmqUrl).pathname.slice(1);
  const { origin, username, password } = new URL(world.rabbitmqManagementUrl);
  const response = await fetch(`${origin}/api/queues/${vhost}/hqrelay.webhooks/get`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ count: 500, ackmode: 'ack_requeue_true', encoding: 'base64' }),
  });
  const messages = (await response.json()) as { payload: string; properties: unknown }[];
  return messages.map(
    ({ payload, properties }) => Buffer.from(payload, 'base64').toString() + JSON.stringify(properties),
  );
}

function randomBody(): Buffer {
  return Buffer.from(JSON.stringify({ event: 'payment.captured', nonce: randomBytes(8).toString('hex') }));
}

/** A header value for `sendRaw`: one character for each byte. */
function onTheWire(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function hashed(id: string | Buffer): string {
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}
