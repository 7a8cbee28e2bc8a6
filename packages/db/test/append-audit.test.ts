import { randomBytes } from 'node:crypto';
import { appendAudit } from '../src/queries/append-audit.ts';
import { readDeliveryHistories } from '../src/queries/delivery-attempts.ts';
import { timeOfId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const { app } = await openWorld();

async function logOf(id: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await app.query<Record<string, unknown>>('select * from webhook_logs where id = $1', [id]);
  return rows[0];
}

describe('a batch of audit rows', () => {
  it('a batch is stored field by field, each row under the time inside its id', async () => {
    const endpointIds = [freshId(), freshId()];
    const webhook = webhookRow(
      {
        endpointIds,
        reason: 'why',
        duplicateOf: freshId(),
        payloadBytes: 5,
        bodyIsKey: true,
        requestCount: 7,
      },
      {
        payload: Buffer.from('hello'),
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
        query: '?a=b',
      },
    );
    const attempt = attemptRow(webhook.log, { nextAttemptAt: 1_900_000_000_123 });
    await appendAudit(app, [webhook, attempt]);

    expect(await logOf(webhook.log.id)).toEqual({
      id: webhook.log.id,
      project_id: webhook.log.projectId,
      webhook_id: webhook.log.webhookId,
      event_type: 'payment.captured',
      status: 'queued',
      reason: 'why',
      endpoint_ids: endpointIds,
      duplicate_of: webhook.log.duplicateOf,
      payload_sha256: 'ab'.repeat(32),
      payload_bytes: 5,
      body_is_key: true,
      request_count: 7,
      remote_addr: '192.0.2.1',
      correlation_id: 'test',
      received_at: new Date(timeOfId(webhook.log.id)),
    });
    const payloads = await app.query('select * from webhook_payloads where id = $1', [webhook.log.id]);
    expect(payloads.rows).toEqual([
      {
        id: webhook.log.id,
        payload: Buffer.from('hello'),
        credentials: null,
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
        query: '?a=b',
        received_at: new Date(timeOfId(webhook.log.id)),
      },
    ]);
    const attempts = await app.query('select * from delivery_attempts where id = $1', [attempt.attempt.id]);
    expect(attempts.rows).toMatchObject([
      {
        attempt_num: 1,
        status_code: 503,
        latency_ms: 12,
        response_body: 'busy',
        attempted_at: new Date(timeOfId(attempt.attempt.id)),
        next_attempt_at: new Date(1_900_000_000_123),
      },
    ]);
  });

  it('a batch that is written again, also in parts and concurrently, changes nothing', async () => {
    const webhooks = Array.from({ length: 20 }, (_, index) => ({
      ...webhookRow({ webhookId: `again-${index}` }),
      outbox: { id: freshId(), exchange: '', routingKey: 'again', message: Buffer.from('m') },
    }));
    const rows = webhooks.flatMap((webhook) => [webhook, attemptRow(webhook.log)]);
    await appendAudit(app, rows);
    await Promise.all([
      appendAudit(app, rows),
      appendAudit(app, rows.toReversed()),
      appendAudit(app, [...rows.slice(0, 7), webhookRow({ webhookId: 'again-20' })]),
    ]);
    const { rows: counts } = await app.query(
      `select (select count(*)::int from webhook_logs where webhook_id like 'again-%') as logs,
         (select count(*)::int from outbox where routing_key = 'again') as outbox,
         (select count(*)::int from delivery_attempts where webhook_log_id = any($1)) as attempts,
         (select count(*)::int from webhook_payloads where id = any($1)) as payloads`,
      [webhooks.map(({ log }) => log.id)],
    );
    expect(counts).toEqual([{ logs: 21, outbox: 20, attempts: 20, payloads: 20 }]);
  });

  it('a batch keeps the bytes of each payload and message apart, empty and large ones too', async () => {
    const sizes = [0, 1, 70_000, 0, 3, 1_048_576, 2, 0];
    const webhooks = sizes.map((size, index) => ({
      ...webhookRow({}, { payload: randomBytes(size) }),
      ...(index % 2 === 0 && {
        outbox: { id: freshId(), exchange: '', routingKey: 'bytes', message: randomBytes(size + 1) },
      }),
    }));
    const bare = webhookRow({ status: 'rejected' }, null);
    await appendAudit(app, [webhooks[0]!, bare, ...webhooks.slice(1)]);

    for (const webhook of webhooks) {
      const { rows } = await app.query<{ payload: Buffer }>(
        'select payload from webhook_payloads where id = $1',
        [webhook.log.id],
      );
      expect(rows[0]?.payload.equals(webhook.payload!.payload)).toBe(true);
    }
    const { rows: none } = await app.query('select from webhook_payloads where id = $1', [bare.log.id]);
    expect(none).toHaveLength(0);
    const { rows: messages } = await app.query<{ message: Buffer }>(
      `select message from outbox where routing_key = 'bytes' order by seq`,
    );
    const given = webhooks.flatMap((webhook) => (webhook.outbox ? [webhook.outbox.message] : []));
    expect(messages.map((row) => row.message.equals(given.shift()!))).toEqual([true, true, true, true]);
  });

  it('a batch puts its messages into the outbox in the order given', async () => {
    const webhooks = Array.from({ length: 300 }, (_, index) => ({
      ...webhookRow({}, null),
      outbox: { id: freshId(), exchange: '', routingKey: 'order', message: Buffer.from(String(index)) },
    }));
    await appendAudit(app, webhooks);
    const { rows } = await app.query<{ message: Buffer }>(
      `select message from outbox where routing_key = 'order' order by seq`,
    );
    expect(rows.map((row) => Number(row.message))).toEqual(webhooks.map((_, index) => index));
  });

  it.each([
    ['a NUL', 'a\u0000b', 'a\ufffdb'],
    ['NULs alone', '\u0000\u0000', '\ufffd\ufffd'],
    ['half a surrogate pair', 'a\ud800b\udfff', 'a\ufffdb\ufffd'],
    ['whole surrogate pairs', '\u{1f600}\u{10ffff}', '\u{1f600}\u{10ffff}'],
    ['a backslash before a NUL', 'C:\\\u0000', 'C:\\\ufffd'],
    ['what looks like an escape', 'C:\\u0000 \\\\ud800', 'C:\\u0000 \\\\ud800'],
    ['other control characters', '\u0001\u001f"\\\n', '\u0001\u001f"\\\n'],
    ['a huge text', 'ü'.repeat(500_000), 'ü'.repeat(500_000)],
  ])('a text with %s is stored', async (_what, given, stored) => {
    const webhook = webhookRow(
      { reason: given, eventType: given },
      { headers: [['x-header', given]], query: given },
    );
    const attempt = attemptRow(webhook.log, { error: given, responseBody: given });
    await appendAudit(app, [webhook, attempt]);
    expect(await logOf(webhook.log.id)).toMatchObject({ reason: stored, event_type: stored });
    const payloads = await app.query('select headers, query from webhook_payloads where id = $1', [
      webhook.log.id,
    ]);
    expect(payloads.rows).toEqual([{ headers: [['x-header', stored]], query: stored }]);
    const attempts = await app.query(
      'select error, response_body from delivery_attempts where webhook_log_id = $1',
      [webhook.log.id],
    );
    expect(attempts.rows).toEqual([{ error: stored, response_body: stored }]);
  });

  it('a batch with one webhook that cannot be stored stores none of its webhooks, payloads or messages', async () => {
    const good = {
      ...webhookRow({ webhookId: 'half' }),
      outbox: { id: freshId(), exchange: '', routingKey: 'half', message: Buffer.from('m') },
    };
    const bad = webhookRow({ webhookId: 'half', projectId: 'no-uuid' });
    await expect(appendAudit(app, [good, bad])).rejects.toMatchObject({ code: '22P02' });
    expect(await logOf(good.log.id)).toBeUndefined();
    const { rows } = await app.query(
      `select id from outbox where routing_key = 'half' union all select id from webhook_payloads where id = $1`,
      [good.log.id],
    );
    expect(rows).toEqual([]);
  });
});

describe('an attempt', () => {
  it('an attempt that is recorded several times, under several ids, is one row: the first', async () => {
    const webhook = webhookRow();
    const first = attemptRow(webhook.log, { error: 'first' });
    await appendAudit(app, [webhook, first]);
    await appendAudit(app, [attemptRow(webhook.log, { error: 'second', status: 'delivered' })]);
    await Promise.all([
      appendAudit(app, [
        attemptRow(webhook.log, { attemptNum: 2 }),
        attemptRow(webhook.log, { attemptNum: 2 }),
      ]),
      appendAudit(app, [attemptRow(webhook.log, { attemptNum: 2 })]),
    ]);
    const { rows } = await app.query(
      'select attempt_num, id, error from delivery_attempts where webhook_log_id = $1 order by attempt_num',
      [webhook.log.id],
    );
    expect(rows).toMatchObject([
      { attempt_num: 1, id: first.attempt.id, error: 'first' },
      { attempt_num: 2 },
    ]);
    expect(rows).toHaveLength(2);
  });
});

describe('the history of a delivery', () => {
  it('the history of a delivery is empty before its first attempt, and then shows the last one', async () => {
    const webhook = webhookRow();
    const { attempt } = attemptRow(webhook.log);
    const asked = {
      webhookLogId: webhook.log.id,
      deliveryId: attempt.deliveryId,
      receivedAt: timeOfId(webhook.log.id),
    };
    const read = async () => (await readDeliveryHistories(app, [asked]))[0];
    expect(await read()).toMatchObject({ finished: false, lastAttemptNum: 0 });

    await appendAudit(app, [attemptRow(webhook.log, { attemptNum: 1, nextAttemptAt: 1_900_000_000_000 })]);
    expect(await read()).toMatchObject({
      finished: false,
      lastAttemptNum: 1,
      nextAttemptAt: 1_900_000_000_000,
    });

    await appendAudit(app, [attemptRow(webhook.log, { attemptNum: 2, status: 'delivered' })]);
    expect(await read()).toMatchObject({ finished: true, lastAttemptNum: 2, nextAttemptAt: null });
  });

  it('the histories of many deliveries are read at once, in the order asked', async () => {
    const webhooks = [webhookRow(), webhookRow(), webhookRow()];
    const attempts = webhooks.map(({ log }) => attemptRow(log, { error: log.webhookId }));
    await appendAudit(app, [attempts[0]!, attempts[2]!]);
    const histories = await readDeliveryHistories(
      app,
      attempts.map(({ attempt }) => ({
        webhookLogId: attempt.webhookLogId,
        deliveryId: attempt.deliveryId,
        receivedAt: timeOfId(attempt.webhookLogId),
      })),
    );
    expect(histories.map(({ lastAttemptNum, lastError }) => [lastAttemptNum, lastError])).toEqual([
      [1, webhooks[0]!.log.webhookId],
      [0, null],
      [1, webhooks[2]!.log.webhookId],
    ]);
  });
});
