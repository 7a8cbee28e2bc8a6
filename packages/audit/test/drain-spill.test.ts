import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeSpill } from '../src/spill-format.ts';
import { attempt, manyRows, openAuditWorld, webhook } from './audit-world.ts';

const world = await openAuditWorld();

beforeEach(() => world.waitUntilPostgresIs('up'));

describe('draining the spill', () => {
  it('a spill that is delivered several times is written once', async () => {
    const rows = [webhook(Buffer.alloc(0)), attempt(), webhook(Buffer.from([0, 255]))];
    for (let times = 0; times < 3; times += 1) await world.spill(encodeSpill(rows));
    expect(await world.drain()).toBe(3);
    expect(await world.stored(rows)).toBe(3);
  });

  it('an unreadable spill and a refused row are parked with the reason, and the rest is stored', async () => {
    const [good, later] = [webhook(), attempt()];
    const bad = attempt({ latencyMs: 2 ** 40 });
    await world.spill(Buffer.from('garbage'));
    await world.spill(encodeSpill([good, bad]));
    await world.spill(Buffer.alloc(0));
    await world.spill(encodeSpill([later]));
    expect(await world.drain()).toBe(4);
    expect(await world.stored([good, bad, later])).toBe(2);
    const parked = await world.takeParked();
    expect(parked.map(({ why }) => why.reason).toSorted((a, b) => a.localeCompare(b))).toEqual([
      expect.stringContaining('outside buffer bounds'),
      expect.stringContaining('not valid JSON'),
      expect.stringContaining('out of range'),
    ]);
    expect(parked.map(({ content }) => content.toString())).toContain('garbage');
    expect(await world.drain()).toBe(0);
  });

  it('the rows of many spilled messages share statements', async () => {
    const rows = manyRows(400);
    for (const row of rows) await world.spill(encodeSpill([row]));
    world.observed.statements = 0;
    expect(await world.drain()).toBe(400);
    expect(await world.stored(rows)).toBe(400);
    // Row by row it would be 400. How many batches there are depends on how fast the broker delivers.
    expect(world.observed.statements).toBeLessThanOrEqual(100);
  });

  it('a drain of the spill that is stopped ends after its batch and leaves the rest in the queue', async () => {
    const rows = manyRows(401);
    for (const row of rows) await world.spill(encodeSpill([row]));
    const stopping = new AbortController();
    // In the middle of the first batch.
    world.postgres.pool.once('acquire', () => stopping.abort());
    const drained = await world.drain(stopping.signal);
    expect(drained).toBeLessThan(401);
    expect(await world.stored(rows)).toBe(drained);
    await world.drain();
    expect(await world.stored(rows)).toBe(401);
    expect(await world.drain()).toBe(0);
  });

  it('spilled messages stay in the queue when Postgres becomes unavailable', async () => {
    const rows = [webhook(), webhook()];
    for (const row of rows) await world.spill(encodeSpill([row]));
    await world.servers.postgres!.stop();
    try {
      await expect(world.drain()).rejects.toThrow();
    } finally {
      await world.servers.postgres!.start();
      await world.waitUntilPostgresIs('up');
    }
    await waitFor('both rows', async () => {
      await world.drain();
      return (await world.stored(rows)) === 2;
    });
  });
});
