import { createApiKey } from '@hqrelay/actions/api-key/create-api-key';
import { apiRoles, type ApiRole } from '@hqrelay/domain/access/api-role';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Command, Option } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { durationBetween, label, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

type Options = {
  name: string;
  role: ApiRole;
  project?: string;
  /** ms. */
  expires: number;
  hidePayloads?: boolean;
  json?: boolean;
};

const dayMs = 86_400_000;

export function addApiKeyCreate(apiKey: Command, cli: Cli): void {
  apiKey
    .command('create')
    .description('make a key for a program that uses the HTTP API, and print it')
    .requiredOption('--name <name>', 'what people call it', label(200))
    .addOption(
      new Option('--role <role>', 'viewer reads; operator also changes endpoints and replays; admin does all')
        .choices(apiRoles)
        .makeOptionMandatory(),
    )
    .option('--project <project-id>', 'it sees this project alone', uuid)
    .addOption(
      new Option('--expires <duration>', 'how long it is valid (1m to 3650d)')
        .argParser(durationBetween('1m', '3650d'))
        .default(90 * dayMs, '90d'),
    )
    .option('--hide-payloads', 'it sees no body, header or query of a webhook, and no answer of an endpoint')
    .option('--json', 'print one JSON value')
    .action((options: Options) => create(cli, options));
}

async function create(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { name, role, project: projectId = null, expires: expiresInMs, hidePayloads = false } = options;
  const { apiKey, key } = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
    valueOf(
      cli,
      await createApiKey(
        { pool, actor: actorOfOperator() },
        { name, role, projectId, hidePayloads, expiresInMs },
      ),
    ),
  );
  printResult(cli, options, { apiKeyId: apiKey.id, apiKey: key }, () => {
    const fields = { 'API key id': apiKey.id, 'API key': key, role, expires: apiKey.expiresAt };
    return `Made the API key ${name}. It is shown this once only.\n${formatFields(fields)}`;
  });
}
