import { randomUUID } from 'node:crypto';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeEach, describe, expect, it } from 'vitest';
import { decodeSpill } from '../src/spill-format.ts';
import { attempt, manyRows, openAuditWorld, webhook } from './audit-world.ts';

const world = await openAuditWorld();

beforeEach(async () => {
  await world.waitUntilPostgresIs('up');
  // For two seconds after a commit that took too long the recorder spills every row.
  await waitFor('a row to be stored', async () => (await world.recorder.record(webhook())) === 'stored');
  world.observed.spilled = 0;
});

const tally = (outcomes: readonly string[]) =>
  Object.fromEntries(
    [...new Set(outcomes)].map((each) => [each, outcomes.filter((one) => one === each).length]),
  );

describe('recording rows', () => {
  it('rows that are recorded at the same time share statements', () =>
    world.whilePostgresKeepsUp(async () => {
      await world.recorder.record(webhook());
      const rows = manyRows(400);
      world.observed.statements = 0;
      const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
      expect(tally(outcomes)).toEqual({ stored: 400 });
      expect(await world.stored(rows)).toBe(400);
      // 200 rows a batch, one statement each for webhooks and attempts; perhaps pings.
      expect(world.observed.statements).toBeLessThanOrEqual(10);
    }));

  it('background rows that are recorded at the same time share statements', () =>
    world.whilePostgresKeepsUp(async () => {
      const rows = manyRows(400);
      world.observed.statements = 0;
      for (const row of rows) world.recorder.recordLater(row);
      await world.recorder.close();
      expect(world.observed.statements).toBeLessThanOrEqual(10);
      expect(await world.stored(rows)).toBe(400);
    }));

  it('a lone row does not wait for a batch to fill', () =>
    world.whilePostgresKeepsUp(async () => {
      const { undisturbedMs } = await measureUndisturbed(async () => {
        for (const row of manyRows(10)) expect(await world.recorder.record(row)).toBe('stored');
      });
      expect(undisturbedMs).toBeLessThan(2_000);
    }));

  it('recording a row of a month without partitions makes the partitions', async () => {
    let ahead = 7;
    await world.whilePostgresKeepsUp(async () => {
      const at = new Date();
      at.setUTCMonth(at.getUTCMonth() + ahead++, 15);
      const rows = [webhook(undefined, newId(at.getTime())), attempt({ id: newId(at.getTime()) }), webhook()];
      const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
      expect(outcomes).toEqual(['stored', 'stored', 'stored']);
      expect(await world.stored(rows)).toBe(3);
    });
  });

  it('a row that Postgres refuses is parked with the reason, and the rest of its batch is stored', async () => {
    const rows = manyRows(150);
    const tooSlow = attempt({ latencyMs: 2 ** 40 });
    const outOfTime = webhook(Buffer.from('bytes'), newId(Date.UTC(2150, 0)));
    rows.splice(70, 0, tooSlow);
    rows.splice(100, 0, outOfTime);
    const withoutTime = webhook(Buffer.from('bytes'), randomUUID());
    rows.splice(120, 0, withoutTime);

    const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));

    // Bisecting may exceed the commit timeout; the batch is then spilled and drained.
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
    const spills = parked.map(({ content }) => decodeSpill(content));
    expect(spills).toEqual(
      expect.arrayContaining([
        { kind: 'spill', rows: [tooSlow] },
        { kind: 'spill', rows: [outOfTime] },
        { kind: 'spill', rows: [withoutTime] },
      ]),
    );
  });

  it('an attempt that another worker recorded is overtaken and leaves that row as it is', () =>
    world.whilePostgresKeepsUp(async () => {
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
    }));
});

describe('while Postgres is frozen', () => {
  it('a frozen Postgres makes rows spill within the commit timeout, then at once, and the drain stores each once', async () => {
    const rows = manyRows(300);
    const last = manyRows(50);
    world.servers.postgres!.freeze();
    try {
      const { value: outcomes, undisturbedMs } = await measureUndisturbed(() =>
        Promise.all(rows.map((row) => world.recorder.record(row))),
      );
      expect(tally(outcomes)).toEqual({ spilled: 300 });
      expect(undisturbedMs).toBeLessThan(2_500);

      world.observed.statements = 0;
      const more = await Promise.all(last.map((row) => world.recorder.record(row)));
      expect(tally(more)).toEqual({ spilled: 50 });
      // Pings alone: fifty rows would be as many statements.
      expect(world.observed.statements).toBeLessThanOrEqual(5);
      expect(world.observed.spilled).toBe(350);
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

  it('spilled rows keep the places of credentials, and null where a webhook had none', async () => {
    const credentials = [{ name: 'Authorization', secretId: freshId(), before: 'Bearer ', after: '' }];
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
    const credentialsOf = async (row: AuditRow) => {
      const id = row.kind === 'webhook' ? row.log.id : row.attempt.id;
      const sql = 'select credentials from webhook_payloads where id = $1';
      return (await world.sql.query(sql, [id])).rows;
    };
    expect(await credentialsOf(withThem)).toEqual([{ credentials }]);
    expect(await credentialsOf(plain)).toEqual([{ credentials: null }]);
  });

  it('a row beyond the bound of memory is refused at once while Postgres is frozen', async () => {
    const large = Buffer.alloc(1 << 20);
    world.servers.postgres!.freeze();
    try {
      const outcomes: string[] = [];
      const recording = Array.from({ length: 200 }, async () =>
        outcomes.push(await world.withoutBroker.record(webhook(large))),
      );
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      // Only the rows beyond the 64 MiB that wait.
      expect(outcomes.length).toBeGreaterThanOrEqual(130);
      expect(tally(outcomes)).toEqual({ unavailable: outcomes.length });
      await Promise.all(recording);
    } finally {
      world.servers.postgres!.thaw();
    }
    await world.waitUntilPostgresIs('up');
  });

  it('the text of a response body counts towards the bound of memory', async () => {
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
  it('a Postgres that stops and starts twice neither loses nor doubles a row', async () => {
    const rows = manyRows(200);
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

  it('without Postgres and the broker a row is refused at once, and background rows wait and are written in small batches', async () => {
    await world.servers.postgres!.stop();
    const background = Array.from({ length: 500 }, () => webhook());
    try {
      await world.waitUntilPostgresIs('down');
      const refused = await measureUndisturbed(() => world.withoutBroker.record(attempt()));
      expect(refused.value).toBe('unavailable');
      expect(refused.undisturbedMs).toBeLessThan(500);
      for (const row of background) world.withoutBroker.recordLater(row);
    } finally {
      await world.servers.postgres!.start();
    }
    await waitFor('the background rows', async () => (await world.stored(background)) === 500);
    const { rows } = await world.sql.query<{ count: number }>(
      'select count(*)::int from webhook_logs where id = any($1) group by xmin::text order by 1 desc limit 1',
      [background.map((row) => row.kind === 'webhook' && row.log.id)],
    );
    // Rows that a request waits for still fit into the same statement.
    expect(rows[0]?.count).toBeLessThanOrEqual(50);
    expect(world.observed.lost).toBe(0);
  });

  it('without both stores, background rows beyond the bound of memory, or left at the close, are dropped and counted', async () => {
    await world.servers.postgres!.stop();
    try {
      await world.waitUntilPostgresIs('down');
      const one = world.anotherWithoutBroker();
      for (let i = 0; i < 34; i += 1) one.recordLater(webhook(Buffer.alloc(1 << 20)));
      await waitFor('the rows beyond the bound', () => world.observed.lost > 0);
      expect(world.observed.lost).toBeLessThan(10);
      await one.close();
      expect(world.observed.lost).toBe(34);
    } finally {
      await world.servers.postgres!.start();
    }
    await world.waitUntilPostgresIs('up');
  });
});

describe('while the schema differs', () => {
  it('a missing column makes rows spill, and parks none', async () => {
    const rows = manyRows(20);
    await world.sql.query('alter table webhook_payloads rename column credentials to credentials_once');
    try {
      const outcomes = await Promise.all(rows.map((row) => world.recorder.record(row)));
      expect(outcomes).not.toContain('unavailable');
      await expect(world.drain()).rejects.toThrow('credentials');
    } finally {
      await world.sql.query('alter table webhook_payloads rename column credentials_once to credentials');
    }
    await waitFor('all rows', async () => {
      await world.drain();
      return (await world.stored(rows)) === 20;
    });
    expect(await world.takeParked()).toEqual([]);
  });
});
