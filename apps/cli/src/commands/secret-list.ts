import type { Command } from 'commander';
import { listProjectSecrets } from '@hqrelay/db/queries/project-secrets';
import { readProject } from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { formatTable, printResult } from '../output/print.ts';

type Options = { project: string; json?: boolean };

export function addSecretList(secret: Command, cli: Cli): void {
  secret
    .command('list')
    .description('the secrets of a project, the newest first, without their values')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action((options: Options) => listSecrets(cli, options));
}

async function listSecrets(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const secrets = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    if (!(await readProject(pool, options.project))) {
      throw new CommandFailure(`there is no project ${options.project}`);
    }
    return listProjectSecrets(pool, options.project);
  });
  printResult(cli, options, secrets, () =>
    formatTable(
      ['SECRET', 'STATUS', 'CREATED', 'EXPIRES', 'REVOKED', 'LAST VERIFIED'],
      secrets.map((each) => [
        each.id,
        each.status,
        each.createdAt,
        each.expiresAt,
        each.revokedAt,
        each.lastVerifiedAt,
      ]),
      'The project has no secrets: its webhooks are answered 401.',
    ),
  );
}
