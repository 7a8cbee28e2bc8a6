import { resealSecrets } from '@hqrelay/actions/secret/reseal-secrets';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

/** Answers to POSTs are kept sealed for 24 hours, and are not worth sealing again. */
const answersKeepKeys =
  'Keep the other keys for 24 hours after the roll-out of the first one: the answers of the HTTP API that can be repeated need them.';

export function addSecretsReseal(program: Command, cli: Cli): void {
  program
    .command('secrets')
    .description('what HQRELAY_SECRETS_KEY encrypts')
    .command('reseal')
    .description(
      'encrypt every secret with the first key of HQRELAY_SECRETS_KEY, so that the others can be retired',
    )
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => reseal(cli, options));
}

async function reseal(cli: Cli, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(actionVariables, cli.env);
  const done = await performAction(cli, config, resealSecrets);
  printResult(cli, options, done, () =>
    done.resealed === 0
      ? `Every secret is encrypted with the first key already. ${answersKeepKeys}`
      : `Encrypted ${done.resealed} secrets with the first key. ${answersKeepKeys}`,
  );
}
