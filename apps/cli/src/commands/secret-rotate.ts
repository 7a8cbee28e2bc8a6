import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/project-secrets';
import { readProject } from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from '../config-change/announce-change.ts';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { newProjectSecret } from '../options/new-secret.ts';
import {
  addSecretOptions,
  checkSecretBytes,
  readGivenSecret,
  type SecretOptions,
} from '../options/given-secret.ts';
import { durationBetween, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';

type Options = SecretOptions & { project: string; overlap: number; json?: boolean };

const dayMs = 86_400_000;

export function addSecretRotate(secret: Command, cli: Cli): void {
  const command = secret
    .command('rotate')
    .description('give a project a new secret; the old ones verify until the overlap ends')
    .requiredOption('--project <project-id>', 'the project', uuid);
  addSecretOptions(command)
    .addOption(
      secret
        .createOption('--overlap <duration>', 'how long the old ones verify (0s to 90d)')
        .argParser(durationBetween('0s', '90d'))
        .default(dayMs, '24h'),
    )
    .option('--json', 'print one JSON value')
    .action((options: Options) => rotateSecret(cli, options));
}

async function rotateSecret(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(
    ['DATABASE_URL', 'REDIS_URL', 'HQRELAY_SECRETS_KEY', 'CONFIG_CACHE_TTL_SECONDS'],
    cli.env,
  );
  const { project: projectId, overlap: overlapMs } = options;
  const given = await readGivenSecret(cli, options);
  const { value, row } = newProjectSecret(config, given);
  const rotated = await withDatabase(config.databaseUrl, async (pool) => {
    const project = await readProject(pool, projectId);
    if (project && given !== undefined) checkSecretBytes(cli, project.provider, given, options);
    return queries.rotateProjectSecret(pool, { projectId, secret: row, overlapMs });
  });
  if (!rotated) throw new CommandFailure(`there is no project ${projectId}`);
  await announceChange(cli, config, projectId);
  const result = { secretId: row.id, secret: value, overlapEndsAt: rotated.overlapEndsAt };
  printResult(cli, options, result, () => {
    const fields = {
      'secret id': result.secretId,
      secret: result.secret,
      'old ones until': result.overlapEndsAt,
    };
    return `The project has a new secret, which is shown this once only.\n${formatFields(fields)}`;
  });
}
