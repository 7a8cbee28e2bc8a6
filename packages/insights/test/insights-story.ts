import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { holdWebhook, recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import type { World } from '@hqrelay/testing/world';

const minuteMs = 60_000;
const dayMs = 86_400_000;

export type Story = Awaited<ReturnType<typeof tellStory>>;
type Attempt = Parameters<typeof recordAttempt>[1];
type Webhook = Parameters<typeof recordWebhook>[1];

/** A project in trouble: each endpoint has a trouble of its own, and some requests do not get in. `now` in ms since epoch. */
export async function tellStory(world: World, now: number) {
  for (const at of [now, now - 2 * dayMs]) await ensurePartition(world.sql, at);
  const { id: projectId } = await seedProject(world, { rateLimitPerMinute: 20 });
  const add = async (name: string) =>
    (await seedEndpoint(world, projectId, { url: `https://${name}.example/hooks?token=hunter2` })).id;
  const endpoints = {
    shop: await add('shop'),
    flaky: await add('flaky'),
    gone: await add('gone'),
    slow: await add('slow'),
  };
  const tell = { world, projectId, now, ...tellersOf(world, projectId) };
  await tellShop(tell, endpoints.shop);
  await tellFlaky(tell, endpoints.flaky);
  await tellGone(tell, endpoints.gone);
  await tellSlow(tell, endpoints.slow);
  await tellDoor(tell);
  return { projectId, endpoints };
}

type Tell = ReturnType<typeof tellersOf> & { world: World; projectId: string; now: number };

function tellersOf({ sql }: World, projectId: string) {
  const receive = (at: number, log: Partial<Webhook> = {}, payload?: string) => {
    const bytes = payload === undefined ? {} : { payload: Buffer.from(payload), headers: [], query: '' };
    const row = { projectId, id: newId(at), eventType: 'order.paid', ...log };
    return payload === undefined
      ? recordWebhook(sql, row)
      : recordWebhook(sql, row, bytes as Parameters<typeof recordWebhook>[2] & object);
  };
  const attempt = (at: number, of: Omit<Attempt, 'projectId' | 'id'>) =>
    recordAttempt(sql, { projectId, id: newId(at), ...of });
  return { receive, attempt };
}

const delivered = { status: 'delivered', statusCode: 200, error: null, responseBody: null } as const;

/** It answers 503 to everything; one delivery is dead. */
async function tellShop(
  { world, projectId, now, receive, attempt }: Tell,
  endpointId: string,
): Promise<void> {
  const from = now - 50 * minuteMs;
  for (let nth = 0; nth < 4; nth += 1) {
    const at = from + nth * minuteMs;
    const webhookLogId = await receive(
      at,
      { endpointIds: [endpointId] },
      '{"card":"4242424242424242","name":"Ada Lovelace"}',
    );
    const responseBody = 'Down for maintenance, order of Ada Lovelace with card 4242424242424242 not saved';
    await attempt(at + 500, { webhookLogId, endpointId, responseBody });
    if (nth > 0) continue;
    await attempt(at + 6_000, {
      webhookLogId,
      endpointId,
      attemptNum: 2,
      status: 'dead_lettered',
      responseBody,
    });
    const ids = { id: deliveryId(webhookLogId, endpointId), projectId, webhookLogId, endpointId };
    await insertDeadLetters(
      world.sql,
      [{ ...ids, kind: 'delivery', reason: 'the schedule is used up', content: null }],
      at + 6_000,
    );
  }
  await world.sql.query(
    `insert into endpoint_breakers (endpoint_id, state, failures, failing_since, interval_ms, updated_at)
     values ($1, 'open', 5, $2, 1000, now())`,
    [endpointId, new Date(from)],
  );
}

/** Its connections are reset, and the second attempt always delivers. */
async function tellFlaky({ now, receive, attempt }: Tell, endpointId: string): Promise<void> {
  for (let nth = 0; nth < 6; nth += 1) {
    const at = now - (120 - nth) * minuteMs;
    const webhookLogId = await receive(at, { endpointIds: [endpointId] });
    const reset = { statusCode: null, error: 'connection reset waiting for headers', responseBody: null };
    await attempt(at + 500, { webhookLogId, endpointId, ...reset });
    await attempt(at + 6_000, { webhookLogId, endpointId, attemptNum: 2, lane: 'retry', ...delivered });
  }
}

/** It answered 410; what came since is held. */
async function tellGone({ world, now, receive, attempt }: Tell, endpointId: string): Promise<void> {
  const at = now - 90 * minuteMs;
  const first = await receive(at, { endpointIds: [endpointId] });
  await attempt(at + 500, {
    webhookLogId: first,
    endpointId,
    statusCode: 410,
    error: 'HTTP 410',
    responseBody: 'gone',
  });
  const held = { endpointId, reason: 'disabled' as const, dueAt: at, message: Buffer.from('m') };
  for (const webhookLogId of [first, await receive(at + minuteMs, { endpointIds: [endpointId] })]) {
    await holdWebhook(world.sql, { ...held, webhookLogId }, at + minuteMs);
  }
  await world.sql.query(
    `update endpoints set enabled = false, disabled_by = 'relay', disabled_reason = 'HTTP 410' where id = $1`,
    [endpointId],
  );
}

/** It takes 6 s of its 10, and took a tenth of a second the day before. */
async function tellSlow({ now, receive, attempt }: Tell, endpointId: string): Promise<void> {
  for (let nth = 0; nth < 25; nth += 1) {
    for (const [at, latencyMs] of [
      [now - (300 + nth) * minuteMs, 6_000 + nth],
      [now - 2 * dayMs + (60 + nth) * minuteMs, 100],
    ] as const) {
      const webhookLogId = await receive(at, { endpointIds: [endpointId] });
      await attempt(at + 500, { webhookLogId, endpointId, latencyMs, ...delivered });
    }
  }
}

/** Rejected requests, conflicts, duplicates, a busy minute of an event type that no endpoint takes, and a busier day before. */
async function tellDoor({ now, receive }: Tell): Promise<void> {
  const at = now - 30 * minuteMs;
  const refused = {
    status: 'rejected',
    eventType: null,
    reason: 'signature.mismatch no secret matches',
  } as const;
  const busy = at - (at % minuteMs);
  for (let nth = 0; nth < 12; nth += 1) {
    await receive(at + nth, { ...refused, remoteAddr: `192.0.2.${nth % 3}` });
  }
  for (let nth = 0; nth < 15; nth += 1) await receive(at + nth, { status: 'duplicate' });
  await receive(at, { status: 'conflict', reason: 'webhook.conflict' });
  for (let nth = 0; nth < 17; nth += 1)
    await receive(busy + nth * 1_000, { eventType: "it's\\un\u001b\u202etaken" });
  for (let nth = 0; nth < 120; nth += 1) await receive(now - dayMs - (60 + nth) * minuteMs);
}
