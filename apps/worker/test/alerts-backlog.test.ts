import { newId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { seedEndpoint } from '@hqrelay/testing/seed';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { minuteMs, openAlertsWorld } from './alerts-world.ts';

const world = await openAlertsWorld();
const { sql, clock } = world;

beforeEach(() => {
  clock.aheadMs = 0;
});
afterEach(async () => {
  await sql.query('delete from alert_sendings; update alert_rules set removed_at = now()');
  if (world.warnings.length > 0) throw new Error(JSON.stringify(world.warnings));
});

async function open() {
  const rule = await world.addRule(['backlog_growing']);
  const { id: endpointId } = await seedEndpoint(world, rule.projectId, { url: 'https://shop.example/hooks' });
  const told = async () =>
    (await world.messages(rule.ruleId)).map(({ type, state, count }) => `${type} ${state} ${count}`);
  return { ...rule, endpointId, told };
}

type Open = Awaited<ReturnType<typeof open>>;

const ago = (ms: number) => world.now() - ms;

const hold = ({ endpointId }: Open, count: number, reason = 'breaker') =>
  sql.query(
    `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
     select gen_random_uuid(), gen_random_uuid(), $1, $2, now(), now(), 'hqrelay.retries', '' from generate_series(1, $3)`,
    [endpointId, reason, count],
  );

it('a backlog that grows over a quarter of an hour is told, until few wait', async () => {
  const rule = await open();
  for (const count of [10, 50, 60]) {
    await hold(rule, count);
    await world.evaluate();
    clock.aheadMs += 5 * minuteMs + 1_000;
  }
  expect(await rule.told()).toEqual([]);
  await hold(rule, 80);
  await world.settle();
  await hold(rule, 1);
  await world.settle();
  expect(await rule.told()).toEqual(['backlog_growing firing 201']);
  await sql.query('delete from held_deliveries');
  await world.evaluate();
  expect((await rule.told()).at(-1)).toBe('backlog_growing recovered 201');
});

/** Webhooks that were received a minute ago. */
const receive = async ({ projectId, endpointId }: Open, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId(ago(minuteMs)));
  const owed = { projectId, endpointIds: [endpointId] };
  await Promise.all(ids.map((id) => recordWebhook(sql, { id, ...owed }, null)));
  return ids;
};
const deliver = ({ projectId, endpointId }: Open, webhookLogIds: readonly string[], more: object = {}) =>
  Promise.all(
    webhookLogIds.map((webhookLogId) =>
      recordAttempt(sql, { id: newId(ago(0)), projectId, endpointId, webhookLogId, ...more }),
    ),
  );
const delivered = { status: 'delivered', statusCode: 200, error: null, nextAttemptAt: null };

it('webhooks that wait in a queue of the broker are a backlog, until their attempts are made', async () => {
  const rule = await open();
  const waiting: string[] = [];
  for (const count of [10, 40, 60, 90]) {
    await deliver(rule, await receive(rule, 20), delivered);
    waiting.push(...(await receive(rule, count)));
    if (count < 90) await world.evaluate();
    if (count < 60) clock.aheadMs += 5 * minuteMs + 1_000;
  }
  await world.settle();
  expect(await rule.told()).toEqual(['backlog_growing firing 200']);
  await deliver(rule, waiting, delivered);
  await world.evaluate();
  expect((await rule.told()).at(-1)).toBe('backlog_growing recovered 200');
});

it('retries that wait in the delay queues are a backlog, and those that were made or are held are not counted twice', async () => {
  const rule = await open();
  for (const count of [10, 40, 60, 90]) {
    await deliver(rule, await receive(rule, count));
    const retried = await receive(rule, 5);
    await deliver(rule, retried);
    await deliver(rule, retried, { attemptNum: 2, lane: 'retry', ...delivered });
    if (count < 90) await world.evaluate();
    if (count < 60) clock.aheadMs += 5 * minuteMs + 1_000;
  }
  await world.settle();
  expect(await rule.told()).toEqual(['backlog_growing firing 200']);
});

it('webhooks that are delivered as fast as they come are no backlog, however many', async () => {
  const rule = await open();
  for (const count of [10, 40, 60, 200]) {
    await deliver(rule, await receive(rule, count), delivered);
    await world.evaluate();
    clock.aheadMs += 5 * minuteMs + 1_000;
  }
  expect(await rule.told()).toEqual([]);
});

it('a backlog that stays, and one of a paused endpoint, are not told', async () => {
  const rule = await open();
  await hold(rule, 500);
  for (let samples = 0; samples < 5; samples += 1) {
    await world.evaluate();
    clock.aheadMs += 5 * minuteMs + 1_000;
    await hold(rule, 500, 'paused');
  }
  expect(await rule.told()).toEqual([]);
});
