import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseLastSeen } from '@hqrelay/db/queries/last-seen';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { attempt, openAuditWorld, webhook } from './audit-world.ts';

const world = await openAuditWorld();
let holder: pg.Client;

beforeAll(async () => {
  holder = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await holder.connect();
});

afterAll(async () => {
  await holder.end();
});

const recordBoth = () => Promise.all([webhook(), attempt()].map((row) => world.recorder.record(row)));

describe('recording rows while another session holds a lock', () => {
  it('an open update of a project makes no row spill', async () => {
    const { id } = await seedProject(world);
    await holder.query('begin');
    await holder.query("update projects set name = 'locked' where id = $1", [id]);
    const seen = { projects: new Map([[id, Date.now()]]), secrets: new Map<string, number>() };
    // A receiver writes this every few seconds.
    const raising = world.postgres.tryWithin(500, (pool) => raiseLastSeen(pool, seen));
    for (let times = 0; times < 20; times += 1) expect(await recordBoth()).toEqual(['stored', 'stored']);
    await raising;
    expect(await recordBoth()).toEqual(['stored', 'stored']);
    await holder.query('rollback');
    expect(world.postgres.health.state).toBe('up');
  });

  it('a locked table makes rows spill at once after the first, and they are stored again when it is free', async () => {
    await holder.query('begin');
    await holder.query('lock table webhook_logs in access exclusive mode');
    expect(await world.recorder.record(webhook())).toBe('spilled');
    const startedAt = performance.now();
    const rows = Array.from({ length: 10 }, () => webhook());
    expect(new Set(await Promise.all(rows.map((row) => world.recorder.record(row))))).toEqual(
      new Set(['spilled']),
    );
    expect(performance.now() - startedAt).toBeLessThan(600);
    expect(world.postgres.health.state).toBe('up');
    await holder.query('rollback');
    await waitFor('a row to be stored', async () => (await world.recorder.record(webhook())) === 'stored');
  });
});
