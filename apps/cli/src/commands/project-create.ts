import type { Command } from 'commander';
import { newId } from '@hqrelay/domain/ids';
import * as queries from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from '../config-change/announce-change.ts';
import type { Cli } from '../cli.ts';
import { webhookUrl } from '../config.ts';
import { withDatabase } from '../database.ts';
import { newProjectSecret } from '../options/new-secret.ts';
import {
  addSecretOptions,
  checkSecretBytes,
  readGivenSecret,
  type SecretOptions,
} from '../options/given-secret.ts';
import { label, parsedBy } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { addProjectOptions, projectChanges, type ProjectOptions } from '../options/project-options.ts';

type Options = ProjectOptions & SecretOptions & { name: string; provider: string; json?: boolean };

const providers = ['generic'];

export function addProjectCreate(project: Command, cli: Cli): void {
  const command = project
    .command('create')
    .description('create a project, and print its webhook URL and its secret')
    .requiredOption('--name <name>', 'what people call it', label(200))
    .option('--provider <provider>', 'how the sender signs', parsedBy(parseProvider), 'generic');
  addProjectOptions(addSecretOptions(command))
    .option('--json', 'print one JSON value')
    .action((options: Options) => createProject(cli, options));
}

async function createProject(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(
    [
      'DATABASE_URL',
      'REDIS_URL',
      'HQRELAY_SECRETS_KEY',
      'PUBLIC_URL',
      'RECEIVER_PORT',
      'CONFIG_CACHE_TTL_SECONDS',
    ],
    cli.env,
  );
  const given = await readGivenSecret(cli, options);
  if (given !== undefined) checkSecretBytes(cli, options.provider, given, options);
  const { value, row } = newProjectSecret(config, given);
  const projectId = newId();
  await withDatabase(config.databaseUrl, (pool) =>
    queries.createProject(pool, {
      id: projectId,
      provider: options.provider,
      settings: {
        name: options.name,
        rateLimitPerMinute: 100,
        idempotencyTtlSeconds: 86_400,
        onConflict: 'reject',
        requireTimestamp: false,
        enabled: true,
        ...projectChanges(options),
      },
      secret: row,
    }),
  );
  await announceChange(cli, config, projectId, { isNew: true });
  const created = { projectId, webhookUrl: webhookUrl(config, projectId), secret: value };
  printResult(cli, options, created, () => {
    const fields = {
      'project id': created.projectId,
      'webhook URL': created.webhookUrl,
      secret: created.secret,
    };
    return `Created the project ${options.name}. Its secret is shown this once only.\n${formatFields(fields)}`;
  });
}

function parseProvider(text: string): string {
  if (!providers.includes(text)) throw new RangeError(`expected ${providers.join(' or ')}`);
  return text;
}
