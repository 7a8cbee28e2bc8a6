import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freshId } from '@hqrelay/testing/fresh-id';
import { migrate } from '../src/migrate.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const migrations = join(root, 'packages/db/migrations');
const serverUrl = new URL(inject('run').postgres);
const database = `migrate_${freshId().slice(-12)}`;
const appUser = { name: `app_${freshId().slice(-12)}`, password: "it's \\ ü" };

function urlOf(name: string, user?: { name: string; password: string }): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  if (user) Object.assign(url, { username: user.name, password: encodeURIComponent(user.password) });
  return url.href;
}

async function asOwner<T>(name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlOf(name) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const options = {
  migrationDatabaseUrl: urlOf(database),
  databaseUrl: urlOf(database, appUser),
};

beforeAll(() => asOwner('postgres', (client) => client.query(`create database ${database}`)));

afterAll(() =>
  asOwner('postgres', async (client) => {
    await client.query(`drop database ${database} with (force)`);
    await client.query(`drop role if exists ${appUser.name}`);
  }),
);

function schemaOf(name: string): Promise<unknown> {
  return asOwner(name, async (client) => {
    const { rows } = await client.query(
      `select c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod) as type,
         (select count(*) from pg_trigger t where t.tgrelid = c.oid) as triggers
       from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
       where c.relnamespace = 'public'::regnamespace order by 1, 3`,
    );
    return rows;
  });
}

describe('migrating', () => {
  it('migrating an empty database twice at once, and again, gives one schema and an app user with its privileges', async () => {
    const notices = await Promise.all([migrate(options), migrate(options)]);
    expect(notices).toEqual([[], []]);
    const schema = await schemaOf(database);
    expect(await migrate(options)).toEqual([]);
    expect(await schemaOf(database)).toEqual(schema);

    const app = new pg.Client({ connectionString: options.databaseUrl });
    await app.connect();
    await app.query('select from delivery_status limit 1');
    await app.query("insert into projects (id, name) values (gen_random_uuid(), 'mine')");
    await app.end();
  });

  it('migrating again keeps the rows', async () => {
    await migrate(options);
    const { rows } = await asOwner(database, (client) => client.query('select name from projects'));
    expect(rows).toEqual([{ name: 'mine' }]);
  });

  it('migrating makes partitions that are missing', async () => {
    await asOwner(database, (client) =>
      client.query(`drop table replays_${new Date().toISOString().slice(0, 7).replace('-', '_')}`),
    );
    await migrate(options);
    await asOwner(database, (client) =>
      client.query(
        `insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at)
         values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'test', now())`,
      ),
    );
  });

  it('migrating warns when the user of DATABASE_URL is the owner of the schema', async () => {
    const [notice, ...others] = await migrate({ ...options, databaseUrl: options.migrationDatabaseUrl });
    expect(notice).toContain('DATABASE_URL is the owner');
    expect(others).toEqual([]);
  });
});

describe('the migrations', () => {
  const journal = JSON.parse(readFileSync(join(migrations, 'meta/_journal.json'), 'utf8')) as {
    entries: { idx: number; when: number; tag: string }[];
  };

  it('each migration is in the journal once, in order and with a rising time, because an earlier time is never applied', () => {
    const files = readdirSync(migrations).filter((name) => name.endsWith('.sql'));
    expect(journal.entries.map((entry) => `${entry.tag}.sql`)).toEqual(files.toSorted());
    expect(journal.entries.map((entry) => entry.idx)).toEqual(journal.entries.map((_, index) => index));
    const times = journal.entries.map((entry) => entry.when);
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
    expect(Math.max(...times)).toBeLessThan(Date.now());
  });

  it('the migrations match the tables in the code: nothing is left to generate', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'hqrelay-migrations-'));
    try {
      cpSync(migrations, join(scratch, 'migrations'), { recursive: true });
      writeFileSync(
        join(scratch, 'drizzle.config.json'),
        JSON.stringify({
          dialect: 'postgresql',
          schema: join(root, 'packages/db/src/schema/*.ts'),
          // drizzle-kit takes a path as one below the folder it runs in.
          out: './migrations',
        }),
      );
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [
          join(root, 'node_modules/drizzle-kit/bin.cjs'),
          'generate',
          '--config',
          join(scratch, 'drizzle.config.json'),
        ],
        { cwd: scratch },
      );
      expect(readdirSync(join(scratch, 'migrations'))).toEqual(readdirSync(migrations));
      expect(stdout).toContain('No schema changes');
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });
});
