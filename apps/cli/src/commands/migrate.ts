import type { Command } from 'commander';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { printResult } from '../output/print.ts';

const ownUrls = [
  'MIGRATION_DATABASE_URL',
  'RECEIVER_DATABASE_URL',
  'WORKER_DATABASE_URL',
  'CONSOLE_DATABASE_URL',
] as const;

/** Called by `npm run migrate`, and hidden from the help. */
export function addMigrate(program: Command, cli: Cli): void {
  program
    .command('migrate', { hidden: true })
    .description('apply the migrations that are missing')
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => migrateSchema(cli, options));
}

async function migrateSchema(cli: Cli, options: { json?: boolean }): Promise<void> {
  // Where every program has a URL of its own, DATABASE_URL is not needed; given, its user may do all that the apps may.
  const shared = cli.env['DATABASE_URL'] === undefined ? [] : (['DATABASE_URL'] as const);
  const config = loadConfig([...shared, ...ownUrls], cli.env);
  const { migrate } = await import('@hqrelay/db/migrate');
  let notices: string[];
  try {
    notices = await migrate(config);
  } catch (error) {
    throw new CommandFailure(
      `${redactUrl(config.migrationDatabaseUrl)} cannot be migrated: ${reasonOf(error)}`,
    );
  }
  for (const notice of notices) cli.warn(`note: ${notice}\n`);
  printResult(cli, options, { migrated: true, notices }, () => 'The schema is up to date.');
}

/** The message of Postgres: Drizzle wraps it as the cause of an error that repeats the statement. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error.message || error.name;
}
