import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { appendAudit, type AuditRow } from '../src/queries/append-audit.ts';
import { dropPayloads } from '../src/queries/drop-payloads.ts';
import { holdDeliveries } from '../src/queries/held-deliveries.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const dayMs = 86_400_000;

const { app } = await openWorld();

async function accept(days: number): Promise<Extract<AuditRow, { kind: 'webhook' }>> {
  const row = webhookRow({ id: newId(Date.now() - days * dayMs) });
  await ensurePartition(app, timeOfId(row.log.id));
  await appendAudit(app, [row]);
  return row;
}

async function end(
  { log }: { log: Parameters<typeof attemptRow>[0] },
  status: 'delivered' | 'dead_lettered',
) {
  const row = attemptRow(log, { id: newId(timeOfId(log.id) + 1_000), status });
  await appendAudit(app, [row]);
}

async function storedOf(...rows: { log: { id: string } }[]): Promise<boolean[]> {
  const ids = rows.map(({ log }) => log.id);
  const found = await app.query<{ id: string }>(
    'select id from webhook_payloads where id = any($1::uuid[])',
    [ids],
  );
  return ids.map((id) => found.rows.some((row) => row.id === id));
}

describe('dropping payloads', () => {
  it('dropping deletes the payloads older than the retention, also of this month, and keeps the other rows', async () => {
    const [ended, dead, recent] = [await accept(3), await accept(3), await accept(1)];
    await end(ended, 'delivered');
    await end(dead, 'dead_lettered');
    await end(recent, 'delivered');
    expect(await dropPayloads(app, Date.now() - 2 * dayMs)).toBe(2);
    expect(await storedOf(ended, dead, recent)).toEqual([false, false, true]);
    const facts = await app.query('select from webhook_logs where id = any($1::uuid[])', [
      [ended.log.id, dead.log.id],
    ]);
    expect(facts.rows).toHaveLength(2);
    expect(await dropPayloads(app, Date.now() - 2 * dayMs)).toBe(0);
  });

  it('dropping keeps the payload that a waiting or held delivery, or a replay, needs until that ends', async () => {
    const [waiting, held, replayed] = [await accept(3), await accept(3), await accept(3)];
    const endpointId = held.log.endpointIds[0]!;
    const now = Date.now();
    await holdDeliveries(
      app,
      [
        {
          deliveryId: deliveryId(held.log.id, endpointId),
          webhookLogId: held.log.id,
          endpointId,
          attemptNum: 1,
          orderingKey: null,
          reason: 'paused',
          dueAt: now,
          queue: 'hqrelay.webhooks',
          message: Buffer.from('message'),
        },
      ],
      now,
    );
    await end(replayed, 'delivered');
    const replayId = freshId();
    await app.query(
      'insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at) values ($1, $2, $3, $4, $5)',
      [replayId, replayed.log.id, replayed.log.endpointIds[0], 'test', new Date(timeOfId(replayId))],
    );
    expect(await dropPayloads(app, now - 2 * dayMs)).toBe(0);
    expect(await storedOf(waiting, held, replayed)).toEqual([true, true, true]);
    await end(waiting, 'delivered');
    expect(await dropPayloads(app, now - 2 * dayMs)).toBe(1);
    expect(await storedOf(waiting, held, replayed)).toEqual([false, true, true]);
  });

  it('dropping in several batches releases the disk space of an emptied month', async () => {
    const rows = Array.from({ length: 1_200 }, () =>
      webhookRow({ id: newId(Date.now() - 70 * dayMs), endpointIds: [] }, { payload: Buffer.alloc(100) }),
    );
    await ensurePartition(app, timeOfId(rows[0]!.log.id));
    await appendAudit(app, rows);
    expect(await dropPayloads(app, Date.now() - 30 * dayMs)).toBe(1_200);
    const month = new Date(timeOfId(rows[0]!.log.id)).toISOString().slice(0, 7).replace('-', '_');
    const { rows: sizes } = await app.query('select pg_relation_size($1::regclass)::int as size', [
      `webhook_payloads_${month}`,
    ]);
    expect(sizes).toEqual([{ size: 0 }]);
  });

  it('dropping is refused for the last day, and the apps may delete no payload otherwise', async () => {
    await expect(dropPayloads(app, Date.now())).rejects.toThrow('of the last day');
    await expect(app.query('delete from webhook_payloads')).rejects.toThrow('permission denied');
  });
});
