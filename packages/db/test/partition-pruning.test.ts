import { freshId } from '@hqrelay/testing/fresh-id';
import { appendAudit } from '../src/queries/append-audit.ts';
import { readDeliveryHistories } from '../src/queries/delivery-attempts.ts';
import { findOwedEndpoints, findPriorWebhooks } from '../src/queries/prior-webhooks.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { attemptRow, webhookRow } from './audit-rows.ts';

let world: World;
let pool: pg.Pool;

const dayMs = 86_400_000;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  for (let month = 1; month <= 24; month += 1) {
    await ensurePartition(world.sql, Date.now() - month * 30 * dayMs);
  }
  pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
});

afterAll(async () => {
  await pool?.end();
  await world?.close();
});

/** The months of the partitions that `work` has opened, planning included. A statement that fails does not end the transaction. */
async function monthsOf(work: (pool: pg.Pool) => Promise<unknown>): Promise<string[]> {
  const client = await pool.connect();
  const query = async (text: string, values: unknown[]) => {
    await client.query('savepoint statement');
    return client.query(text, values).catch(async (error: unknown) => {
      await client.query('rollback to savepoint statement');
      throw error;
    });
  };
  try {
    await client.query('begin');
    await work({ query } as unknown as pg.Pool);
    const { rows } = await client.query<{ month: string }>(
      `select distinct right(c.relname, 7) as month from pg_locks l join pg_class c on c.oid = l.relation
       where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relispartition order by 1`,
    );
    return rows.map(({ month }) => month);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

function monthsBetween(from: number, to: number): string[] {
  const months = new Set<string>();
  for (let at = from; at < to + dayMs; at += dayMs) {
    months.add(new Date(Math.min(at, to)).toISOString().slice(0, 7).replace('-', '_'));
  }
  return [...months];
}

it('the statements of the hot paths open only the partitions of the months that they name, however many exist', async () => {
  const { log } = webhookRow();
  const attempt = attemptRow(log);
  const now = Date.now();
  const keyRequest = {
    projectId: log.projectId,
    webhookId: log.webhookId,
    id: freshId(),
    payloadSha256: 'ab'.repeat(32),
    token: freshId(),
    windowSeconds: 86_400,
    reservationSeconds: 10,
  };
  await appendAudit(pool, [webhookRow(log), attempt]);

  expect(await monthsOf((traced) => findPriorWebhooks(traced, [keyRequest]))).toEqual(
    monthsBetween(now - 2 * dayMs, now + dayMs),
  );
  expect(await monthsOf((traced) => findOwedEndpoints(traced, [log.id]))).toEqual(monthsBetween(now, now));
  // Writing the row again also asks which rows exist.
  expect(await monthsOf((traced) => appendAudit(traced, [attempt]))).toEqual(monthsBetween(now, now));

  const { webhookLogId, deliveryId } = attempt.attempt;
  const history = { webhookLogId, deliveryId, receivedAt: now };
  const months = await monthsOf((traced) => readDeliveryHistories(traced, [history]));
  expect(months.length).toBeGreaterThan(0);
  expect(months.filter((month) => month < monthsBetween(now - dayMs, now)[0]!)).toEqual([]);
});
