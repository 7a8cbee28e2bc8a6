import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseLastSeen } from '@hqrelay/db/queries/last-seen';
import { seedProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
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
  it('an open update of a project makes no row spill', () =>
    world.whilePostgresKeepsUp(async () => {
      const { id } = await seedProject(world);
      await holder.query('begin');
      try {
        await holder.query("update projects set name = 'locked' where id = $1", [id]);
        const seen = { projects: new Map([[id, Date.now()]]), secrets: new Map<string, number>() };
        // A receiver writes this every few seconds.
        const raising = world.postgres.tryWithin(500, (pool) => raiseLastSeen(pool, seen));
        for (let times = 0; times < 20; times += 1) expect(await recordBoth()).toEqual(['stored', 'stored']);
        await raising;
        expect(await recordBoth()).toEqual(['stored', 'stored']);
        await world.waitUntilPostgresIs('up');
      } finally {
        await holder.query('rollback');
      }
    }));

  it('a small row is stored while the commits of large ones wait for a lock', () =>
    world.whilePostgresKeepsUp(async () => {
      await waitFor('a row to be stored', async () => (await world.recorder.record(attempt())) === 'stored');
      await holder.query('begin');
      try {
        await holder.query('lock table webhook_payloads in access exclusive mode');
        const large = Array.from({ length: 6 }, () => world.recorder.record(webhook(Buffer.alloc(1 << 20))));
        expect(await world.recorder.record(attempt())).toBe('stored');
        expect(new Set(await Promise.all(large))).toEqual(new Set(['spilled']));
      } finally {
        await holder.query('rollback');
      }
    }));

  it('a locked table makes rows spill at once after the first, and they are stored again when it is free', async () => {
    await holder.query('begin');
    await holder.query('lock table webhook_logs in access exclusive mode');
    expect(await world.recorder.record(webhook())).toBe('spilled');
    const rows = Array.from({ length: 10 }, () => webhook());
    const { value: outcomes, undisturbedMs } = await measureUndisturbed(() =>
      Promise.all(rows.map((row) => world.recorder.record(row))),
    );
    expect(new Set(outcomes)).toEqual(new Set(['spilled']));
    expect(undisturbedMs).toBeLessThan(600);
    await world.waitUntilPostgresIs('up');
    await holder.query('rollback');
    await waitFor('a row to be stored', async () => (await world.recorder.record(webhook())) === 'stored');
  });
});
