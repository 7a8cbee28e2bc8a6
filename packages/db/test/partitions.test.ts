import { appendAudit } from '../src/queries/append-audit.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { newId } from '@hqrelay/domain/ids';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const { world, app } = await openWorld();

const parents = ['delivery_attempts', 'replays', 'webhook_logs', 'webhook_payloads', 'webhook_search_values'];

function monthsFromNow(months: number): Date {
  const at = new Date();
  at.setUTCHours(12, 0, 0, 0);
  at.setUTCMonth(at.getUTCMonth() + months, 15);
  return at;
}

async function partitionsOf(at: Date): Promise<string[]> {
  const suffix = at.toISOString().slice(0, 7).replace('-', '_');
  const { rows } = await world.sql.query<{ parent: string }>(
    `select p.relname as parent from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relname = p.relname || '_' || $1 order by p.relname`,
    [suffix],
  );
  return rows.map((row) => row.parent);
}

describe('the partitions', () => {
  it.each([0, 1, 2, 3])('the partitions of %i months from now exist after a migration', async (months) => {
    expect(await partitionsOf(monthsFromNow(months))).toEqual(parents);
  });

  it('an app makes the partitions of a month once', async () => {
    const at = monthsFromNow(7);
    expect(await partitionsOf(at)).toEqual([]);
    expect(await ensurePartition(app, at.getTime())).toBe(5);
    expect(await ensurePartition(app, at.getTime())).toBe(0);
    expect(await partitionsOf(at)).toEqual(parents);
  });

  it('several concurrent sessions make the partitions of a month once', async () => {
    const at = monthsFromNow(8).getTime();
    const made = await Promise.all(Array.from({ length: 4 }, () => ensurePartition(app, at)));
    expect(made.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 5]);
  });

  it('the missing partitions of a month are made where others exist', async () => {
    const at = monthsFromNow(9);
    await ensurePartition(app, at.getTime());
    const suffix = at.toISOString().slice(0, 7).replace('-', '_');
    await world.sql.query(`drop table replays_${suffix}, delivery_attempts_${suffix}`);
    expect(await ensurePartition(app, at.getTime())).toBe(2);
    expect(await partitionsOf(at)).toEqual(parents);
  });

  it.each([
    ['before 2020', '2019-12-31T23:59:59Z'],
    ['of the epoch', '1970-01-01T00:00:00Z'],
    ['years from now', '2199-01-01T00:00:00Z'],
    ['without end', 'infinity'],
    ['that is null', null],
  ])('making the partitions of a time %s is refused', async (_what, at) => {
    await expect(app.query('select hqrelay_ensure_partition($1)', [at])).rejects.toMatchObject({
      code: '22023',
    });
  });

  it('the partitions of a month take rows of the first and the last millisecond of their month (UTC), whatever the session’s time zone', async () => {
    const at = monthsFromNow(15);
    const start = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
    const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query("set time zone 'Asia/Kolkata'");
    await client.query('select hqrelay_ensure_partition($1)', [at]);
    await client.end();

    await appendAudit(app, [webhookRow({ id: newId(start) }), webhookRow({ id: newId(end - 1) })]);

    await expect(appendAudit(app, [webhookRow({ id: newId(start - 1) })])).rejects.toMatchObject({
      code: '23514',
    });
    await expect(appendAudit(app, [webhookRow({ id: newId(end) })])).rejects.toMatchObject({ code: '23514' });
    const suffix = at.toISOString().slice(0, 7).replace('-', '_');
    const { rows } = await world.sql.query<{ count: number }>(
      `select count(*)::int as count from webhook_logs_${suffix}`,
    );
    expect(rows[0]?.count).toBe(2);
  });

  it('partitions are made while rows are written to other partitions', async () => {
    const writing = await app.connect();
    await writing.query('begin');
    const webhook = webhookRow();
    await appendAudit(writing as unknown as pg.Pool, [webhook, attemptRow(webhook.log)]);
    const reading = await app.connect();
    await reading.query('begin');
    await reading.query('select count(*) from delivery_status');
    try {
      expect(await ensurePartition(app, monthsFromNow(11).getTime())).toBe(5);
    } finally {
      await writing.query('rollback');
      await reading.query('rollback');
      writing.release();
      reading.release();
    }
  });
});
