import { migrate } from '@hqrelay/db/migrate';
import { Postgres } from '@hqrelay/db/postgres';
import { appUser, databaseUrl, ownDatabaseUrls } from '@hqrelay/testing/run-services';
import pg from 'pg';
import { load } from './load.ts';

export type Filled = {
  /** One connection, of the apps' user, as the console reads. */
  postgres: Postgres;
  /** When the newest webhook was received, in ms since epoch. */
  now: number;
};

const projects = 2_000;
const days = 90;

/** A database with so many webhooks. */
export async function openFilled(
  serverUrl: string,
  { webhooks, say }: { webhooks: number; say: (line: string) => void },
): Promise<Filled> {
  const name = `bench_${webhooks}`;
  const now = await keepDatabase(serverUrl, name, (pool, at) =>
    load({ pool, webhooks, projects, days, now: at, say }),
  );
  const postgres = new Postgres({
    url: databaseUrl(serverUrl, name, appUser),
    applicationName: 'bench',
    max: 1,
    onChange: () => {},
  });
  return { postgres, now };
}

/**
 * Migrates and fills a database, or applies the migrations since to the one that an earlier run kept on this server. Returns
 * when it was filled, in ms since epoch.
 */
export async function keepDatabase(
  serverUrl: string,
  name: string,
  fill: (pool: pg.Pool, now: number) => Promise<void>,
): Promise<number> {
  const url = databaseUrl(serverUrl, name);
  const filledAt = await readFilledAt(serverUrl, name);
  if (filledAt === undefined)
    await query(serverUrl, `drop database if exists ${name}`, `create database ${name}`);
  const own = ownDatabaseUrls(serverUrl, name);
  await migrate({
    migrationDatabaseUrl: url,
    databaseUrl: databaseUrl(serverUrl, name, appUser),
    receiverDatabaseUrl: own.RECEIVER_DATABASE_URL,
    workerDatabaseUrl: own.WORKER_DATABASE_URL,
    consoleDatabaseUrl: own.CONSOLE_DATABASE_URL,
  });
  if (filledAt !== undefined) return filledAt;
  const now = Date.now();
  const pool = new pg.Pool({ connectionString: url, max: 3, options: '-c synchronous_commit=off' });
  await fill(pool, now);
  await pool.end();
  await query(serverUrl, `comment on database ${name} is '${now}'`);
  return now;
}

/** The comment that ends the filling of a database; undefined without one. */
async function readFilledAt(serverUrl: string, name: string): Promise<number | undefined> {
  const rows = await query(
    serverUrl,
    `select shobj_description(oid, 'pg_database') as at from pg_database where datname = '${name}'`,
  );
  const at = (rows[0] as { at: string | null } | undefined)?.at;
  return at ? Number(at) : undefined;
}

async function query(serverUrl: string, ...statements: string[]): Promise<object[]> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    let rows: object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
