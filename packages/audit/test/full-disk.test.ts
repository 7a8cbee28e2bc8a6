import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mayMount } from '@hqrelay/testing/servers/mount-disk';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempt, startAuditWorld, webhook, type AuditWorld } from './audit-world.ts';

describe.runIf(mayMount)('a Postgres whose disk is full', () => {
  let world: AuditWorld;

  beforeAll(async () => {
    world = await startAuditWorld({ diskMib: 200 });
  });

  afterAll(() => world?.close());

  it('rows that a full disk refuses are spilled, not parked, and all are stored once there is room', async () => {
    const before = webhook();
    expect(await world.recorder.record(before)).toBe('stored');
    const folder = world.folder as string;
    const junk = join(folder, 'junk');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(junk, Buffer.alloc(bavail * bsize - 1_000_000));

    const rows = Array.from({ length: 12 }, (_, index) =>
      index % 3 === 0 ? attempt() : webhook(randomBytes(1 << 20)),
    );
    const outcomes = new Set<string>();
    for (const row of rows) outcomes.add(await world.recorder.record(row));
    expect(outcomes).toContain('spilled');
    expect(outcomes).not.toContain('unavailable');
    expect(await world.takeParked()).toEqual([]);

    rmSync(junk);
    // Postgres ends by itself when it has no room for its log.
    const server = world.servers.postgres!;
    await server.kill();
    await server.start();
    await world.waitUntilPostgresIs('up');
    await waitFor('the spilled rows to be written', async () => {
      await world.drain().catch(() => {});
      return (await world.stored([before, ...rows])) === rows.length + 1;
    });
    expect(await world.takeParked()).toEqual([]);
  });
});
