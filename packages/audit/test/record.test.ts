import { randomUUID } from 'node:crypto';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { newId } from '@hqrelay/domain/ids';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeSpill, encodeSpill } from '../src/spill-format.ts';
import { attempt, startAuditWorld, webhook, type AuditWorld } from './audit-world.ts';

let world: AuditWorld;

beforeAll(async () => {
  world = await startAuditWorld();
});

afterAll(() => world.close());

beforeEach(async () => {
  await world.waitUntilPostgresIs('up');
  world.seen.spilled = 0;
});

function many(count: number) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? webhook(Buffer.from(`payload ${index}`)) : attempt(),
  );
}

const tally = (outcomes: readonly string[]) =>
  Object.fromEntries(
    [...new Set(outcomes)].map((each) => [each, outcomes.filter((one) => one === each).length]),
  );

describe('rows that are recorded', () => {
  it('together share their statements', async () => {
    await world.recorder.record(webhook());
    const rows = many(400);
    world.seen.statements = 0;
    const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
    expect(tally(outcomes)).toEqual({ stored: 400 });
    expect(await world.stored(rows)).toBe(400);
    // 200 rows a batch, webhooks and attempts apart; a ping beside.
    expect(world.seen.statements).toBeLessThanOrEqual(5);
  });

  it('share them too when nobody waits: a flood of notes is not slower than its rows', async () => {
    const notes = many(400);
    world.seen.statements = 0;
    for (const note of notes) world.recorder.note(note);
    await world.recorder.close();
    expect(world.seen.statements).toBeLessThanOrEqual(5);
    expect(await world.stored(notes)).toBe(400);
  });

  it('one by one do not wait for others', async () => {
    const startedAt = performance.now();
    for (const row of many(10)) expect(await world.recorder.record(row)).toBe('stored');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('for a month without partitions get them made', async () => {
    const at = new Date();
    at.setUTCMonth(at.getUTCMonth() + 7, 15);
    const rows = [webhook(undefined, newId(at.getTime())), attempt({ id: newId(at.getTime()) }), webhook()];
    const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
    expect(outcomes).toEqual(['stored', 'stored', 'stored']);
    expect(await world.stored(rows)).toBe(3);
  });

  it('among which some cannot be stored are stored all the same, and those are parked with the reason', async () => {
    const rows = many(150);
    const tooSlow = attempt({ latencyMs: 2 ** 40 });
    const outOfTime = webhook(Buffer.from('bytes'), newId(Date.UTC(2150, 0)));
    rows.splice(70, 0, tooSlow);
    rows.splice(100, 0, outOfTime);
    const withoutTime = webhook(Buffer.from('bytes'), randomUUID());
    rows.splice(120, 0, withoutTime);

    const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));

    // Looking for them may take too long for those who wait: then all of it is done later.
    expect(outcomes).not.toContain('unavailable');
    await world.waitUntilPostgresIs('up');
    await world.drain();
    expect(await world.stored(rows)).toBe(150);
    const parked = await world.takeParked();
    expect(parked.map(({ why }) => why).toSorted((a, b) => a.reason.localeCompare(b.reason))).toEqual([
      { v: 1, kind: 'audit_row', reason: expect.stringContaining('no partition') },
      { v: 1, kind: 'audit_row', reason: 'not a UUIDv7' },
      { v: 1, kind: 'audit_row', reason: expect.stringContaining('out of range') },
    ]);
    const kept = parked.map(({ content }) => decodeSpill(content));
    expect(kept).toEqual(
      expect.arrayContaining([
        { kind: 'spill', rows: [tooSlow] },
        { kind: 'spill', rows: [outOfTime] },
        { kind: 'spill', rows: [withoutTime] },
      ]),
    );
  });

  it('for an attempt that somebody else has recorded say so, and leave that row', async () => {
    const first = attempt();
    const { deliveryId, webhookLogId } = first.attempt;
    const second = attempt({ deliveryId, webhookLogId, status: 'failed' });
    expect(await world.recorder.record(first)).toBe('stored');
    expect(await Promise.all([second, attempt()].map((row) => world.recorder.record(row)))).toEqual([
      'overtaken',
      'stored',
    ]);
    expect(await world.recorder.record(first)).toBe('stored');
    expect(await world.stored([first, second])).toBe(1);
  });
});

describe('while Postgres is frozen', () => {
  it('rows go to the broker, soon and then at once, and all of them are in Postgres afterwards, once', async () => {
    const rows = many(300);
    const last = many(50);
    world.servers.postgres!.freeze();
    try {
      const startedAt = performance.now();
      const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
      expect(tally(outcomes)).toEqual({ spilled: 300 });
      expect(performance.now() - startedAt).toBeLessThan(2_500);

      world.seen.statements = 0;
      const more = await Promise.all(last.map((row) => world.recorder.record(row)));
      expect(tally(more)).toEqual({ spilled: 50 });
      // Nobody asked Postgres, but for a ping.
      expect(world.seen.statements).toBeLessThanOrEqual(1);
      expect(world.seen.spilled).toBe(350);
    } finally {
      world.servers.postgres!.thaw();
    }
    await world.waitUntilPostgresIs('up');
    await world.drain();
    expect(await world.stored([...rows, ...last])).toBe(350);
    const { rows: payloads } = await world.sql.query<{ payload: Buffer }>(
      'select payload from webhook_payloads where id = any($1)',
      [rows.flatMap((row) => (row.kind === 'webhook' ? [row.log.id] : []))],
    );
    expect(payloads.map(({ payload }) => payload.toString()).toSorted((a, b) => a.localeCompare(b))).toEqual(
      rows
        .flatMap((row) => (row.kind === 'webhook' ? [row.payload!.payload.toString()] : []))
        .toSorted((a, b) => a.localeCompare(b)),
    );
    expect(await world.drain()).toBe(0);
  });

  it('where the secrets of a webhook stood goes with its rows, and is nothing for the others', async () => {
    const credentials = [{ name: 'Authorization', secretId: newId(), before: 'Bearer ', after: '' }];
    const plain = webhook();
    const withThem = webhook();
    if (withThem.kind === 'webhook') withThem.payload = { ...withThem.payload!, credentials };
    world.servers.postgres!.freeze();
    try {
      const outcomes = await Promise.all([plain, withThem].map((row) => world.recorder.record(row)));
      expect(outcomes).toEqual(['spilled', 'spilled']);
    } finally {
      world.servers.postgres!.thaw();
    }
    await world.waitUntilPostgresIs('up');
    await world.drain();
    const kept = async (row: AuditRow) => {
      const id = row.kind === 'webhook' ? row.log.id : row.attempt.id;
      const sql = 'select credentials from webhook_payloads where id = $1';
      return (await world.sql.query(sql, [id])).rows;
    };
    expect(await kept(withThem)).toEqual([{ credentials }]);
    expect(await kept(plain)).toEqual([{ credentials: null }]);
  });

  it('what waits in memory is bounded: past that a row is refused at once', async () => {
    const large = Buffer.alloc(1 << 20);
    world.servers.postgres!.freeze();
    try {
      const outcomes: string[] = [];
      const recording = Array.from({ length: 200 }, async () =>
        outcomes.push(await world.withoutBroker.record(webhook(large))),
      );
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      // 64 MiB wait; nothing was decided yet about those.
      expect(outcomes.length).toBeGreaterThanOrEqual(130);
      expect(tally(outcomes)).toEqual({ unavailable: outcomes.length });
      await Promise.all(recording);
    } finally {
      world.servers.postgres!.thaw();
    }
    await world.waitUntilPostgresIs('up');
  });

  it('the text of an answer counts too', async () => {
    world.servers.postgres!.freeze();
    try {
      const responseBody = 'x'.repeat(4_096);
      const refused = new Set<string>();
      const recording = Array.from({ length: 20_000 }, () =>
        world.withoutBroker.record(attempt({ responseBody })),
      );
      void Promise.race(recording).then((outcome) => refused.add(outcome));
      await new Promise((resolve) => setImmediate(resolve));
      expect([...refused]).toEqual(['unavailable']);
      await Promise.all(recording);
    } finally {
      world.servers.postgres!.thaw();
    }
    await world.waitUntilPostgresIs('up');
  });
});

describe('while Postgres is stopped', () => {
  it('rows go to the broker, and none is lost or doubled by a Postgres that comes and goes', async () => {
    const rows = many(200);
    const outcomes: string[] = [];
    const recordSome = async (from: number) => {
      for (const row of rows.slice(from, from + 50)) outcomes.push(await world.recorder.record(row));
    };
    await recordSome(0);
    await world.servers.postgres!.stop();
    await world.waitUntilPostgresIs('down');
    await recordSome(50);
    await world.servers.postgres!.start();
    await world.waitUntilPostgresIs('up');
    await recordSome(100);
    await world.servers.postgres!.kill();
    await recordSome(150);
    await world.servers.postgres!.start();
    await world.waitUntilPostgresIs('up');
    expect(outcomes.filter((outcome) => outcome === 'spilled').length).toBeGreaterThanOrEqual(100);
    expect(new Set(outcomes)).toEqual(new Set(['stored', 'spilled']));
    await world.drain();
    expect(await world.stored(rows)).toBe(200);
  });

  it('and there is no broker either, a row is refused soon; notes wait until a store is back, and go a few at a time', async () => {
    await world.servers.postgres!.stop();
    const notes = Array.from({ length: 500 }, () => webhook());
    try {
      await world.waitUntilPostgresIs('down');
      const startedAt = performance.now();
      expect(await world.withoutBroker.record(attempt())).toBe('unavailable');
      expect(performance.now() - startedAt).toBeLessThan(500);
      for (const note of notes) world.withoutBroker.note(note);
    } finally {
      await world.servers.postgres!.start();
    }
    await waitFor('the notes', async () => (await world.stored(notes)) === 500);
    const { rows } = await world.sql.query<{ count: number }>(
      'select count(*)::int from webhook_logs where id = any($1) group by xmin::text order by 1 desc limit 1',
      [notes.map((note) => note.kind === 'webhook' && note.log.id)],
    );
    // What somebody waits for has room beside them in a statement.
    expect(rows[0]?.count).toBeLessThanOrEqual(50);
    expect(world.seen.lost).toBe(0);
  });

  it('and there is no broker either, notes past the bounds of memory or the end are lost, and told of', async () => {
    await world.servers.postgres!.stop();
    try {
      await world.waitUntilPostgresIs('down');
      const one = world.anotherWithoutBroker();
      for (let i = 0; i < 34; i += 1) one.note(webhook(Buffer.alloc(1 << 20)));
      await waitFor('those past the bound', () => world.seen.lost > 0);
      expect(world.seen.lost).toBeLessThan(10);
      await one.close();
      expect(world.seen.lost).toBe(34);
    } finally {
      await world.servers.postgres!.start();
    }
    await world.waitUntilPostgresIs('up');
  });
});

describe('while the schema is not ours (yet)', () => {
  it('rows wait in the broker and none is taken for a bad one', async () => {
    const rows = many(20);
    await world.sql.query('alter table webhook_payloads rename column credentials to credentials_once');
    try {
      const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
      expect(outcomes).not.toContain('unavailable');
      await expect(world.drain()).rejects.toThrow('credentials');
    } finally {
      await world.sql.query('alter table webhook_payloads rename column credentials_once to credentials');
    }
    await waitFor('all of them', async () => {
      await world.drain();
      return (await world.stored(rows)) === 20;
    });
    expect(await world.takeParked()).toEqual([]);
  });
});

describe('draining what was spilled', () => {
  it('writes rows once, however often their message comes', async () => {
    const rows = [webhook(Buffer.alloc(0)), attempt(), webhook(Buffer.from([0, 255]))];
    for (let copy = 0; copy < 3; copy += 1) await world.spill(encodeSpill(rows));
    expect(await world.drain()).toBe(3);
    expect(await world.stored(rows)).toBe(3);
  });

  it('parks what it cannot read or store, with the reason, and goes on with the rest', async () => {
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

  it('commits the rows of many messages together', async () => {
    const rows = many(400);
    for (const row of rows) await world.spill(encodeSpill([row]));
    world.seen.statements = 0;
    expect(await world.drain()).toBe(400);
    expect(await world.stored(rows)).toBe(400);
    // Two batches, webhooks and attempts apart; a ping beside.
    expect(world.seen.statements).toBeLessThanOrEqual(6);
  });

  it('ends soon when it is told to stop, and leaves the rest in the queue', async () => {
    const rows = many(401);
    for (const row of rows) await world.spill(encodeSpill([row]));
    const stopping = new AbortController();
    const draining = world.drain(stopping.signal);
    await waitFor('the first rows', async () => (await world.stored(rows)) > 0, { everyMs: 5 });
    stopping.abort();
    expect(await draining).toBeLessThan(401);
    await world.drain();
    expect(await world.stored(rows)).toBe(401);
    expect(await world.drain()).toBe(0);
  });

  it('leaves the rest in the queue when Postgres goes away', async () => {
    const rows = [webhook(), webhook()];
    for (const row of rows) await world.spill(encodeSpill([row]));
    await world.servers.postgres!.stop();
    try {
      await expect(world.drain()).rejects.toThrow();
    } finally {
      await world.servers.postgres!.start();
      await world.waitUntilPostgresIs('up');
    }
    await waitFor('both to be drained', async () => {
      await world.drain();
      return (await world.stored(rows)) === 2;
    });
  });
});
