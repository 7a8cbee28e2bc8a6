import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresBinaries } from '@hqrelay/services/servers/private-postgres';
import { newId } from '@hqrelay/domain/ids';
import { afterAll, expect, it } from 'vitest';
import { appendAudit } from '../src/queries/append-audit.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();
const folder = mkdtempSync(join(tmpdir(), 'hqrelay-old-months-'));
afterAll(() => rmSync(folder, { recursive: true }));

const now = new Date();
const monthAt = (months: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
const day = (at: Date) => at.toISOString().slice(0, 10);
const [from, to] = [monthAt(-4), monthAt(-3)];
const month = day(from).slice(0, 7).replace('-', '_');
const tables = ['webhook_logs', 'webhook_payloads', 'delivery_attempts', 'replays'];

/** The commands of the section of docs/operations.md: set up, check, detach, dump, drop, restore. */
function readCommands(): string[] {
  const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const section = /^## Move old months away\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, commands = '']) => commands);
}

/** Runs commands as an operator does, who has set the variables of the first block. Returns what they print. */
async function run(commands: string): Promise<string> {
  const env = {
    PATH: [findPostgresBinaries(), '/usr/bin', '/bin'].join(':'),
    MIGRATION_DATABASE_URL: world.ownerDatabaseUrl,
    MONTH: month,
    FROM: day(from),
    TO: day(to),
  };
  const argv = ['-euo', 'pipefail', '-c', commands];
  const { stdout } = await promisify(execFile)('bash', argv, { env, cwd: folder });
  return stdout;
}

/** Every row of the four tables within the month, as text. */
async function rowsOfMonth(): Promise<string[]> {
  const times = ['received_at', 'received_at', 'attempted_at', 'requested_at'];
  const rows: string[] = [];
  for (const [index, table] of tables.entries()) {
    const found = await world.sql.query<{ row: string }>(
      `select t::text as row from ${table} t where ${times[index]} >= $1 and ${times[index]} < $2 order by 1`,
      [from, to],
    );
    rows.push(...found.rows.map(({ row }) => `${table} ${row}`));
  }
  return rows;
}

it('the procedure of docs/operations.md moves a month to a file and brings it back, append-only as before', async () => {
  await ensurePartition(world.sql, from.getTime());
  const recent = webhookRow();
  const old = webhookRow({ id: newId(from.getTime() + 3_600_000) });
  const attempt = attemptRow(old.log, {
    id: newId(from.getTime() + 3_601_000),
    status: 'delivered',
    statusCode: 200,
  });
  await appendAudit(app, [recent, old, attempt]);
  await world.sql.query(
    'insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at) values ($1, $2, $3, $4, $5)',
    [newId(from.getTime()), old.log.id, old.log.endpointIds[0], 'test', from],
  );
  const before = await rowsOfMonth();
  expect(before).toHaveLength(4);
  const [variables, check, detach, dump, drop, restore] = readCommands();
  expect(variables).toContain('MONTH');

  // A replay has no attempt, and the webhook is delivered.
  expect(await run(check!)).toContain('(0 rows)');
  await run(detach!);
  expect(await rowsOfMonth()).toEqual([]);
  expect(await run(dump!)).toBe('5\n');
  await run(drop!);
  const left = await world.sql.query('select from pg_class where relname like $1', [`%${month}`]);
  expect(left.rowCount).toBe(0);
  expect((await world.sql.query('select from webhook_logs')).rowCount).toBe(1);
  // The relay writes on, and makes partitions as before.
  await appendAudit(app, [webhookRow()]);
  expect(await ensurePartition(world.sql, Date.now())).toBe(0);

  await run(restore!);
  expect(await rowsOfMonth()).toEqual(before);
  for (const table of ['webhook_logs', 'delivery_attempts', 'replays']) {
    await expect(world.sql.query(`delete from ${table}_${month}`)).rejects.toThrow('append-only');
    await expect(world.sql.query(`truncate ${table}_${month}`)).rejects.toThrow('append-only');
  }
  // Written again, an attempt stays one row: the index that says so came back too.
  expect(await appendAudit(app, [attempt])).toEqual(new Set());
  expect(await rowsOfMonth()).toEqual(before);
});
