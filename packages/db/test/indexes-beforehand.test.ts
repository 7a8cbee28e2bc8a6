import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshId } from '@hqrelay/testing/fresh-id';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { migrate } from '../src/migrate.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const serverUrl = inject('run').postgres;
const database = `indexes_${freshId().slice(-12)}`;
const url = Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
/** The last migration before those whose indexes are built beforehand. */
const before = '0016_api-keys';
const month = '2026_11';

let client: pg.Client;

beforeAll(async () => {
  await asServer(`create database ${database}`);
  client = new pg.Client({ connectionString: url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await asServer(`drop database ${database} with (force)`);
});

it('indexes that are built as docs/operations.md says are attached by the migrations, which build none on the audit tables', async () => {
  await migrateTo(before);
  await client.query(
    `select hqrelay_ensure_partition(timestamptz '2026-11-10Z' + make_interval(months => m)) from generate_series(0, 1) m`,
  );
  await client.query(
    `insert into webhook_logs (id, project_id, webhook_id, status, endpoint_ids, payload_bytes, correlation_id, received_at)
     select gen_random_uuid(), gen_random_uuid(), n, 'rejected', '{}', 0, n, timestamptz '2026-11-10Z' from generate_series(1, 100) n`,
  );
  const months = [month, '2026_12'];
  for (const statement of documented()) {
    for (const each of months) await client.query(statement.replaceAll(month, each));
  }
  const built = await indexesOf(months);

  await migrate({ migrationDatabaseUrl: url, databaseUrl: url });

  const after = await indexesOf(months);
  expect(after.filter(({ oid }) => !built.some((index) => index.oid === oid))).toEqual([]);
  expect(after.filter(({ isAttached, isOnce }) => !isAttached && !isOnce)).toEqual([]);
});

/** The statements of the page, which name one month. */
function documented(): string[] {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const statements = page.match(/CREATE INDEX CONCURRENTLY[^;]*;/g) ?? [];
  expect(statements.length).toBeGreaterThan(3);
  for (const statement of statements) expect(statement).toContain(month);
  return statements;
}

/** Applies the migrations up to one of them, as an earlier version did. */
async function migrateTo(tag: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hqrelay-migrations-'));
  try {
    cpSync(join(root, 'packages/db/migrations'), folder, { recursive: true });
    const file = join(folder, 'meta/_journal.json');
    const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] };
    journal.entries.length = journal.entries.findIndex((entry) => entry.tag === tag) + 1;
    writeFileSync(file, JSON.stringify(journal));
    await applyMigrations(drizzle(client), { migrationsFolder: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Index = { oid: number; name: string; isAttached: boolean; isOnce: boolean };

/** The indexes of the partitions of two tables. `isOnce`: the unique index that partitions alone have. */
async function indexesOf(months: readonly string[]): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select c.oid::int, c.relname as name, c.relispartition as "isAttached", c.relname like '%\\_once' as "isOnce"
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any($1::regclass[])`,
    [months.flatMap((each) => [`webhook_logs_${each}`, `delivery_attempts_${each}`])],
  );
  return rows;
}

async function asServer(statement: string): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await server.query(statement);
  } finally {
    await server.end();
  }
}
