import { migrate } from '@hqrelay/db/migrate';
import { Postgres } from '@hqrelay/db/postgres';
import { appUser, databaseUrl } from '@hqrelay/testing/run-services';
import pg from 'pg';
import { load } from './load.ts';

export type Filled = {
  /** One connection, of the apps' user, as the console reads. */
  postgres: Postgres;
  /** When the newest webhook was received, in ms since epoch. */
  now: number;
};

const projects = 2_000;

/** A database with so many webhooks: the one that an earlier run kept on this server, with the migrations since, or a new one. */
export async function openFilled(
  serverUrl: string,
  { webhooks, say }: { webhooks: number; say: (line: string) => void },
): Promise<Filled> {
  const name = `bench_${webhooks}`;
  const url = databaseUrl(serverUrl, name);
  const filledAt = await readFilledAt(serverUrl, name);
  if (filledAt === undefined)
    await query(serverUrl, `drop database if exists ${name}`, `create database ${name}`);
  await migrate({ migrationDatabaseUrl: url, databaseUrl: databaseUrl(serverUrl, name, appUser) });
  const now = filledAt ?? Date.now();
  if (filledAt === undefined) {
    await query(serverUrl, `alter database ${name} set synchronous_commit = off`);
    const pool = new pg.Pool({ connectionString: url, max: 3 });
    await load({ pool, webhooks, projects, now, say });
    await pool.end();
    await query(serverUrl, `comment on database ${name} is '${now}'`);
  }
  const postgres = new Postgres({
    url: databaseUrl(serverUrl, name, appUser),
    applicationName: 'bench',
    max: 1,
    onChange: () => {},
  });
  return { postgres, now };
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
