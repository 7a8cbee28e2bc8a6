import { rotateProjectSecret } from '@hqrelay/actions/secret/rotate-project-secret';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { addSecretOptions, readGivenSecret, type SecretOptions } from '../options/given-secret.ts';
import { overlapOption, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = SecretOptions & { project: string; overlap: number; json?: boolean };

export function addSecretRotate(secret: Command, cli: Cli): void {
  const command = secret
    .command('rotate')
    .description('give a project a new secret; the old ones verify until the overlap ends')
    .requiredOption('--project <project-id>', 'the project', uuid);
  addSecretOptions(command)
    .addOption(overlapOption('how long the old ones verify'))
    .option('--json', 'print one JSON value')
    .action((options: Options) => rotate(cli, options));
}

async function rotate(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig([...actionVariables, 'HQRELAY_SECRETS_KEY'], cli.env);
  const { project: projectId, overlap: overlapMs } = options;
  const given = await readGivenSecret(cli, options);
  const { secretId, secret, overlapEndsAt } = await performAction(cli, config, (deps) =>
    rotateProjectSecret(deps, { projectId, secret: given, overlapMs }),
  );
  printResult(cli, options, { secretId, secret }, () => {
    const fields = { 'secret id': secretId, secret, 'old ones until': overlapEndsAt };
    return `The project has a new secret, which is shown this once only.\n${formatFields(fields)}`;
  });
}
