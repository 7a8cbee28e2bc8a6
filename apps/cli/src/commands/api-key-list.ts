import { listApiKeys } from '@hqrelay/db/queries/api-keys';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { formatTable, printResult } from '../output/print.ts';

type Options = { project?: string; json?: boolean };

const keysMax = 1_000;

export function addApiKeyList(apiKey: Command, cli: Cli): void {
  apiKey
    .command('list')
    .description('the newest 1000 keys of the HTTP API, without the keys themselves')
    .option('--project <project-id>', 'those that see this project alone', uuid)
    .option('--json', 'print one JSON value')
    .action((options: Options) => list(cli, options));
}

async function list(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const keys = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    listApiKeys(pool, { projectId: options.project, limit: keysMax }),
  );
  printResult(cli, options, keys, () =>
    formatTable(
      ['API KEY', 'NAME', 'ROLE', 'PROJECT', 'PAYLOADS', 'STATUS', 'EXPIRES', 'LAST USED', 'CREATED'],
      keys.map((each) => [
        each.id,
        each.name,
        each.role,
        each.projectId ?? 'all',
        each.hidePayloads ? 'hidden' : 'shown',
        each.status,
        each.expiresAt,
        each.lastUsedAt,
        each.createdAt,
      ]),
      'There are no API keys yet: hqrelay api-key create makes one.',
    ),
  );
}
