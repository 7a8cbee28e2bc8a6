import { holdWebhook, recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { freshId } from '@hqrelay/testing/fresh-id';
import { deliveryId } from '@hqrelay/domain/ids';
import { decodeMessage } from '@hqrelay/queue/messages';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, createProject } = await openConsoleWorld();

async function webhookWithEndpoint() {
  const projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/' });
  const endpointId = added.body.endpoint.id as string;
  const payload = { payload: Buffer.from('{"order":4711}'), headers: [], query: '' };
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] }, payload);
  return { projectId, endpointId, webhookLogId };
}

const refusedWith = (statusCode: number, code: string) => ({ statusCode, body: { error: { code } } });

it('a waiting delivery is retried now: its next attempt is held, due at once, with the payload', async () => {
  const seeded = await webhookWithEndpoint();
  const id = await recordAttempt(sql, seeded);
  const answer = await post(`/api/v1/deliveries/${id}/retry-now`);
  expect(answer).toMatchObject({
    statusCode: 200,
    body: { deliveryId: id, ...seeded, replayId: null, state: 'held', heldReason: 'delay', attempts: 1 },
  });
  const dueAt = Date.parse(answer.body.nextAttemptAt);
  expect(dueAt).toBeLessThanOrEqual(Date.now());
  const { rows } = await sql.query('select * from held_deliveries where delivery_id = $1', [id]);
  expect(rows).toMatchObject([{ attempt_num: 2, queue: 'hqrelay.retries', due_at: new Date(dueAt) }]);
  expect(decodeMessage(rows[0].message)).toMatchObject({
    message: {
      envelope: { id: seeded.webhookLogId, delivery: { attemptNum: 2, lane: 'retry', notBefore: dueAt } },
      body: Buffer.from('{"order":4711}'),
    },
  });
  const log = await get(`/api/v1/admin-log?projectId=${seeded.projectId}`);
  expect(log.body.items[0]).toMatchObject({
    action: 'delivery.retry_now',
    target: id,
    details: { before: { state: 'waiting' }, after: { state: 'held' }, attemptNum: 2 },
  });
});

it('a delivery is cancelled once, is found by its state, and can be replayed', async () => {
  const { projectId, webhookLogId, endpointId } = await webhookWithEndpoint();
  const id = await recordAttempt(sql, { projectId, webhookLogId, endpointId });
  const path = `/api/v1/deliveries/${id}/cancel`;
  expect(await post(path)).toMatchObject({
    statusCode: 200,
    body: { state: 'cancelled', nextAttemptAt: null },
  });
  expect(await post(path)).toMatchObject({ statusCode: 200, body: { state: 'cancelled' } });
  expect(await post(`/api/v1/deliveries/${id}/retry-now`)).toMatchObject(refusedWith(409, 'delivery.ended'));
  const listed = await get(`/api/v1/projects/${projectId}/webhooks?state=cancelled`);
  expect(listed.body.items).toMatchObject([{ id: webhookLogId, deliveries: { cancelled: 1 } }]);
  expect((await post(`/api/v1/webhooks/${webhookLogId}/replay`)).statusCode).toBe(202);
  const log = await sql.query("select from admin_log where target = $1 and action = 'delivery.cancel'", [id]);
  expect(log.rowCount).toBe(1);
});

it('a replay that waits for its time is cancelled by its own delivery id', async () => {
  const { webhookLogId } = await webhookWithEndpoint();
  const { body } = await post(`/api/v1/webhooks/${webhookLogId}/replay`);
  const [{ deliveryId: id, replayId }] = body.replays;
  expect(await post(`/api/v1/deliveries/${id}/cancel`)).toMatchObject({
    body: { state: 'cancelled', replayId },
  });
  const details = await get(`/api/v1/webhooks/${webhookLogId}`);
  expect(details.body).toMatchObject({
    deliveries: [{ state: 'waiting' }],
    replays: [{ state: 'cancelled' }],
  });
});

it('a delivery whose first attempt is in a queue is cancelled, and a retry of one changes nothing', async () => {
  const { webhookLogId, endpointId } = await webhookWithEndpoint();
  const cancelled = await webhookWithEndpoint();
  const id = deliveryId(webhookLogId, endpointId);
  expect(
    await post(`/api/v1/deliveries/${deliveryId(cancelled.webhookLogId, cancelled.endpointId)}/cancel`),
  ).toMatchObject({ statusCode: 200, body: { state: 'cancelled', attempts: 0 } });
  expect(await post(`/api/v1/deliveries/${id}/retry-now`)).toMatchObject({
    statusCode: 200,
    body: { state: 'waiting', attempts: 0 },
  });
  expect((await sql.query('select from held_deliveries where delivery_id = $1', [id])).rowCount).toBe(0);
});

it('a delivery that is delivered, unknown, behind another one, or whose payload was dropped is refused', async () => {
  const { projectId, webhookLogId, endpointId } = await webhookWithEndpoint();
  const delivered = {
    projectId,
    webhookLogId,
    endpointId,
    status: 'delivered',
    nextAttemptAt: null,
  } as const;
  const id = await recordAttempt(sql, delivered);
  for (const verb of ['retry-now', 'cancel']) {
    expect(await post(`/api/v1/deliveries/${id}/${verb}`)).toMatchObject(refusedWith(409, 'delivery.ended'));
    expect(await post(`/api/v1/deliveries/${freshId()}/${verb}`)).toMatchObject(
      refusedWith(404, 'delivery.not_found'),
    );
  }
  const ordered = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  const message = Buffer.from('message');
  const held = { webhookLogId: ordered, endpointId, reason: 'order', dueAt: Date.now(), message } as const;
  await holdWebhook(sql, held, Date.now());
  expect(await post(`/api/v1/deliveries/${deliveryId(ordered, endpointId)}/retry-now`)).toMatchObject(
    refusedWith(409, 'delivery.behind_another'),
  );
  const dropped = await recordWebhook(sql, { projectId, endpointIds: [endpointId] }, null);
  const ofDropped = await recordAttempt(sql, { projectId, webhookLogId: dropped, endpointId });
  expect(await post(`/api/v1/deliveries/${ofDropped}/retry-now`)).toMatchObject(
    refusedWith(409, 'webhook.not_replayable'),
  );
});
