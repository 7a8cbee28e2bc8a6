import { deliveryId, newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { holdWebhook } from '@hqrelay/testing/database/record-webhook';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import type { World } from '@hqrelay/testing/world';
import {
  appendAudit,
  type AuditRow,
  type DeliveryAttemptRow,
  type WebhookLogRow,
} from '../src/queries/append-audit.ts';
import { insertAdminLog } from '../src/queries/admin-log.ts';
import { insertDeadLetters } from '../src/queries/dead-letters.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

/** The 15th of the month before this one. */
const now = new Date();
const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15);
/** ms since epoch of `02:00:30` on the day of the story. */
export const at = (time: string): number =>
  Date.parse(`${new Date(day).toISOString().slice(0, 10)}T${time}Z`);

export type Story = Awaited<ReturnType<typeof tellStory>>;

/**
 * A night of one project with two endpoints. evt_payment_1 fails once and is delivered; evt_payment_2 dies; evt_order_3 is held
 * after a failure; evt_order_4 waits. Another project and another month have webhooks of the same id.
 */
export async function tellStory(world: World) {
  for (const months of [-3, -2, -1, 0]) {
    await ensurePartition(world.sql, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 15));
  }
  const [project, other] = [await seedProject(world), await seedProject(world)];
  const shop = await seedEndpoint(world, project.id, { url: 'https://shop.example/hooks' });
  const books = await seedEndpoint(world, project.id, { url: 'https://books.example/in' });
  const rows: AuditRow[] = [];
  const receive = (time: number | string, log: Partial<WebhookLogRow>, payload?: Buffer) => {
    const id = newId(typeof time === 'string' ? at(time) : time);
    const row = webhookRow(
      { id, projectId: project.id, endpointIds: [], ...log },
      payload ? { payload } : null,
    );
    rows.push(row);
    return row.log;
  };
  const attempt = (time: string, webhook: WebhookLogRow, of: Partial<DeliveryAttemptRow>) =>
    rows.push(attemptRow(webhook, { id: newId(at(time)), correlationId: webhook.correlationId, ...of }));
  const delivered = { status: 'delivered', statusCode: 200, error: null } as const;
  const timeout = { statusCode: null, error: 'no answer within 10 s', latencyMs: 10_000 };

  const paid = receive(
    '02:00:00',
    { webhookId: 'evt_payment_1', endpointIds: [shop.id, books.id], correlationId: 'night-1' },
    Buffer.from('{"amount":100}'),
  );
  const again = { webhookId: 'evt_payment_1', status: 'duplicate', duplicateOf: paid.id } as const;
  receive('02:00:30', { ...again, requestCount: 3 });
  receive('02:01:00', again);
  receive('02:02:00', {
    ...again,
    status: 'conflict',
    reason: 'body.altered',
    payloadSha256: 'cd'.repeat(32),
  });
  attempt('02:00:01', paid, { endpointId: shop.id, latencyMs: 120 });
  attempt('02:00:06', paid, {
    endpointId: shop.id,
    attemptNum: 2,
    lane: 'retry',
    latencyMs: 80,
    ...delivered,
  });
  attempt('02:00:02', paid, { endpointId: books.id, latencyMs: 4_200, ...delivered });

  const lost = receive('02:30:00', { webhookId: 'evt_payment_2', endpointIds: [shop.id] });
  attempt('02:30:01', lost, { ...timeout, attemptNum: 1 });
  attempt('03:10:00', lost, { ...timeout, attemptNum: 2, lane: 'retry', status: 'dead_lettered' });

  const late = receive('02:45:00', {
    webhookId: 'evt_order_3',
    eventType: 'order.paid',
    endpointIds: [shop.id],
  });
  attempt('02:45:01', late, { latencyMs: 30 });
  receive('04:00:00', { webhookId: 'evt_order_4', eventType: 'order.paid', endpointIds: [books.id] });

  const refused = { webhookId: 'unknown', eventType: null, status: 'rejected' } as const;
  receive('02:10:00', { ...refused, reason: 'signature.mismatch', remoteAddr: '192.0.2.1' });
  receive('02:11:00', {
    ...refused,
    reason: 'signature.mismatch',
    remoteAddr: '192.0.2.2',
    payloadBytes: 10,
    requestCount: 40,
  });
  receive('02:12:00', { ...refused, reason: 'timestamp.stale' });
  receive('02:13:00', { webhookId: 'evt_payment_9', status: 'rate_limited', reason: 'rate limit' });

  receive('02:00:00', { projectId: other.id, webhookId: 'evt_payment_1' });
  const old = receive(at('02:00:00') - 40 * 86_400_000, { webhookId: 'evt_payment_1' });
  await appendAudit(world.sql, rows);
  await tellRest(world, { project: project.id, shop: shop.id, lost, late });
  await closeDeadLetters(world, {
    project: project.id,
    endpoint: shop.id,
    replayed: lost.id,
    erased: old.id,
  });
  return {
    projectId: project.id,
    shop: shop.id,
    books: books.id,
    paid: paid.id,
    lost: lost.id,
    late: late.id,
  };
}

/** The replay of one dead letter, and another one that was closed because its payload was erased. */
async function closeDeadLetters(
  world: World,
  {
    project,
    endpoint,
    replayed,
    erased,
  }: { project: string; endpoint: string; replayed: string; erased: string },
): Promise<void> {
  const letter = {
    id: deliveryId(erased, endpoint),
    kind: 'delivery' as const,
    reason: 'erased: request 4711',
    projectId: project,
    webhookLogId: erased,
    endpointId: endpoint,
    content: null,
  };
  await insertDeadLetters(world.sql, [letter], at('04:30:00'));
  const replayId = newId(at('05:00:00'));
  await world.sql.query(
    'insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at) values ($1, $2, $3, $4, $5)',
    [replayId, replayed, endpoint, 'ana@laptop', new Date(at('05:00:00'))],
  );
  await world.sql.query(
    `update dead_letters set replayed_at = $1, replay_id = case webhook_log_id when $2 then $3::uuid end
     where project_id = $4`,
    [new Date(at('05:00:00')), replayed, replayId, project],
  );
}

/** The dead letter and the delivery that is held behind it, which are no audit rows, and what an operator did. */
async function tellRest(
  world: World,
  { project, shop, lost, late }: { project: string; shop: string; lost: WebhookLogRow; late: WebhookLogRow },
): Promise<void> {
  const letter = {
    id: deliveryId(lost.id, shop),
    kind: 'delivery' as const,
    reason: 'the schedule is used up',
    projectId: project,
    webhookLogId: lost.id,
    endpointId: shop,
    content: null,
  };
  await insertDeadLetters(world.sql, [letter], at('03:10:10'));
  const held = {
    webhookLogId: late.id,
    endpointId: shop,
    reason: 'paused' as const,
    message: Buffer.from('m'),
  };
  await holdWebhook(world.sql, { ...held, dueAt: at('02:50:00') }, at('02:46:00'));
  for (const [index, { id }] of [lost, late].entries()) {
    await world.sql.query(
      `insert into ordered_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, sequence, accepted_at_us)
       values ($1, $2, $3, 'order-1', $4, 0)`,
      [deliveryId(id, shop), id, shop, index + 1],
    );
  }
  const client = await world.sql.connect();
  const facts = { actor: 'cli:ana', projectId: project, target: shop, details: {} };
  await insertAdminLog(client, { id: freshId(), action: 'endpoint.pause', ...facts });
  client.release();
}
