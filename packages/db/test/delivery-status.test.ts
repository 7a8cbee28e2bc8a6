import { appendAudit } from '../src/queries/append-audit.ts';
import { holdDeliveries } from '../src/queries/held-deliveries.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const { world, app } = await openWorld();

type Status = {
  webhook_log_id: string;
  endpoint_id: string;
  delivery_id: string;
  state: string;
  attempts: number;
  last_status_code: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
};

async function statusOf(webhookLogId: string): Promise<Status[]> {
  const { rows } = await app.query<Status>(
    'select * from delivery_status where webhook_log_id = $1 order by endpoint_id',
    [webhookLogId],
  );
  return rows;
}

function hold(log: { id: string; endpointIds: readonly string[] }): Promise<void> {
  const endpointId = log.endpointIds[0] as string;
  return holdDeliveries(
    app,
    [
      {
        deliveryId: deliveryId(log.id, endpointId),
        webhookLogId: log.id,
        endpointId,
        attemptNum: 1,
        orderingKey: null,
        reason: 'paused',
        dueAt: Date.now(),
        queue: 'hqrelay.webhooks',
        message: Buffer.from('message'),
      },
    ],
    Date.now(),
  );
}

describe('delivery_status', () => {
  it('a delivery is waiting, without attempts, for every endpoint that a new webhook owes', async () => {
    const webhook = webhookRow({
      endpointIds: [freshId(), freshId()].toSorted((a, b) => a.localeCompare(b)),
    });
    await appendAudit(app, [webhook]);
    expect(await statusOf(webhook.log.id)).toMatchObject(
      webhook.log.endpointIds.map((endpointId) => ({
        endpoint_id: endpointId,
        delivery_id: deliveryId(webhook.log.id, endpointId),
        state: 'waiting',
        attempts: 0,
        last_status_code: null,
        last_error: null,
        next_attempt_at: null,
        delivered_at: null,
      })),
    );
  });

  it('a delivery is waiting after a failed attempt and shows the last one, in whatever order the rows were written', async () => {
    const webhook = webhookRow();
    const nextAttemptAt = Date.now() + 60_000;
    await appendAudit(app, [
      webhook,
      attemptRow(webhook.log, {
        attemptNum: 2,
        statusCode: null,
        error: 'connection refused',
        nextAttemptAt,
      }),
      attemptRow(webhook.log, { attemptNum: 1, nextAttemptAt: Date.now() }),
    ]);
    expect(await statusOf(webhook.log.id)).toMatchObject([
      {
        state: 'waiting',
        attempts: 2,
        last_status_code: null,
        last_error: 'connection refused',
        next_attempt_at: new Date(nextAttemptAt),
      },
    ]);
  });

  it('a delivery is held while its row of held_deliveries exists', async () => {
    const webhook = webhookRow();
    await appendAudit(app, [webhook]);
    await hold(webhook.log);
    expect(await statusOf(webhook.log.id)).toMatchObject([{ state: 'held', attempts: 0 }]);
    await app.query('delete from held_deliveries where webhook_log_id = $1', [webhook.log.id]);
    expect(await statusOf(webhook.log.id)).toMatchObject([{ state: 'waiting' }]);
  });

  it('a delivery with one delivered attempt is delivered, at the time of its answer, whatever else is recorded', async () => {
    const webhook = webhookRow();
    const attemptedAt = Date.now();
    await appendAudit(app, [
      webhook,
      attemptRow(webhook.log, { attemptNum: 1, nextAttemptAt: attemptedAt + 5_000 }),
      attemptRow(webhook.log, {
        id: newId(attemptedAt),
        attemptNum: 2,
        status: 'delivered',
        statusCode: 204,
        error: null,
        latencyMs: 250,
      }),
    ]);
    await hold(webhook.log);
    expect(await statusOf(webhook.log.id)).toMatchObject([
      {
        state: 'delivered',
        attempts: 2,
        last_status_code: 204,
        last_error: null,
        next_attempt_at: null,
        delivered_at: new Date(attemptedAt + 250),
      },
    ]);
  });

  it('a delivery is dead-lettered after the last failure of the schedule', async () => {
    const webhook = webhookRow();
    await appendAudit(app, [
      webhook,
      attemptRow(webhook.log, { attemptNum: 1, nextAttemptAt: Date.now() }),
      attemptRow(webhook.log, { attemptNum: 2, status: 'dead_lettered', error: 'HTTP 500', statusCode: 500 }),
    ]);
    expect(await statusOf(webhook.log.id)).toMatchObject([
      { state: 'dead_lettered', attempts: 2, last_error: 'HTTP 500', next_attempt_at: null },
    ]);
  });

  it('each endpoint of a webhook has a row and a state of its own', async () => {
    const [first, second] = [freshId(), freshId()].toSorted((a, b) => a.localeCompare(b)) as [string, string];
    const webhook = webhookRow({ endpointIds: [first, second] });
    await appendAudit(app, [
      webhook,
      attemptRow(webhook.log, { endpointId: second, status: 'delivered', statusCode: 200, error: null }),
    ]);
    expect(await statusOf(webhook.log.id)).toMatchObject([
      { endpoint_id: first, state: 'waiting', attempts: 0 },
      { endpoint_id: second, state: 'delivered', attempts: 1 },
    ]);
  });

  it('the view has no row for a webhook that owes nothing: without endpoints, or not queued', async () => {
    const webhooks = [
      webhookRow({ endpointIds: [] }),
      ...(['duplicate', 'conflict', 'rate_limited', 'rejected', 'failed_to_queue'] as const).map((status) =>
        webhookRow({ status }),
      ),
    ];
    await appendAudit(app, webhooks);
    for (const { log } of webhooks) expect(await statusOf(log.id)).toEqual([]);
  });

  it('the view does not count the attempts of a replay as those of the delivery', async () => {
    const webhook = webhookRow();
    const replayed = deliveryId(webhook.log.id, webhook.log.endpointIds[0] as string, freshId());
    await appendAudit(app, [
      webhook,
      attemptRow(webhook.log, { status: 'dead_lettered' }),
      attemptRow(webhook.log, { deliveryId: replayed, lane: 'replay', status: 'delivered' }),
    ]);
    expect(await statusOf(webhook.log.id)).toMatchObject([{ state: 'dead_lettered', attempts: 1 }]);
  });

  it('the view counts an attempt that a worker’s slower clock dates before its webhook', async () => {
    const webhook = webhookRow();
    const before = timeOfId(webhook.log.id) - 30 * 60_000;
    await appendAudit(app, [webhook, attemptRow(webhook.log, { id: newId(before), status: 'delivered' })]);
    expect(await statusOf(webhook.log.id)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('a query within one month reads no partition of an earlier one', async () => {
    const now = new Date();
    const monthStart = (months: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
    for (const months of [-3, -2, -1, 1, 2]) await ensurePartition(app, monthStart(months).getTime());
    const webhooks = [-3, -2, -1, 0].map((months) =>
      webhookRow({ id: newId(monthStart(months).getTime() + 12 * 3_600_000) }),
    );
    await appendAudit(app, webhooks);

    const { rows } = await world.sql.query<{ 'QUERY PLAN': string }>(
      'explain (analyze, costs off, timing off) select * from delivery_status where received_at >= $1 and received_at < $2'
        .replace('$1', `'${monthStart(-1).toISOString()}'`)
        .replace('$2', `'${monthStart(0).toISOString()}'`),
    );

    const suffix = (months: number) => monthStart(months).toISOString().slice(0, 7).replace('-', '_');
    const read = new Set(
      rows
        .map((row) => row['QUERY PLAN'])
        .filter((line) => !line.includes('never executed'))
        .flatMap(
          (line) => line.match(/\b(?:webhook_logs|delivery_attempts|webhook_payloads)_\d{4}_\d{2}\b/) ?? [],
        ),
    );
    expect([...read].filter((name) => name.startsWith('webhook_logs'))).toEqual([
      `webhook_logs_${suffix(-1)}`,
    ]);
    expect(read).toContain(`delivery_attempts_${suffix(-1)}`);
    expect(read).not.toContain(`delivery_attempts_${suffix(-2)}`);
    expect(read).not.toContain(`delivery_attempts_${suffix(-3)}`);
  });
});
