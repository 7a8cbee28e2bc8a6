import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type pg from 'pg';
import { CommandFailure } from './cli.ts';

/** Undefined table, column, function or object: the migrations of this version have not run. */
const schemaErrorCodes: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '42704']);

/**
 * Calls `use` with a pool, and closes the pool. Throws CommandFailure when Postgres cannot be reached, has no schema or
 * fails; other errors of `use` are passed on.
 */
export async function withDatabase<T>(databaseUrl: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const { Postgres } = await import('@hqrelay/db/postgres');
  const postgres = new Postgres({
    url: databaseUrl,
    applicationName: 'hqrelay-cli',
    max: 1,
    onChange: () => {},
  });
  try {
    await connect(postgres.pool, databaseUrl);
    return await use(postgres.pool);
  } catch (error) {
    if (schemaErrorCodes.has(codeOf(error))) {
      throw new CommandFailure('the schema is missing or older than this program: run npm run migrate');
    }
    throw isFromPostgres(error) ? new CommandFailure(`Postgres: ${error.message}`) : error;
  } finally {
    await postgres.close();
  }
}

async function connect(pool: pg.Pool, databaseUrl: string): Promise<void> {
  try {
    const client = await pool.connect();
    client.release();
  } catch (error) {
    const reason = (error instanceof Error && error.message) || codeOf(error) || String(error);
    throw new CommandFailure(`Postgres cannot be used (${redactUrl(databaseUrl)}): ${reason}`);
  }
}

/** Whether the error is an answer of the server, a timeout or a lost connection. */
function isFromPostgres(error: unknown): error is Error {
  return (
    error instanceof Error &&
    ('severity' in error || /^(Query read timeout|Connection terminated)/.test(error.message))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
