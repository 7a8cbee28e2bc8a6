import { revokeProjectSecret } from '@hqrelay/actions/secret/revoke-project-secret';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

export function addSecretRevoke(secret: Command, cli: Cli): void {
  secret
    .command('revoke')
    .description('stop a secret from verifying, everywhere and for good')
    .argument('<secret-id>', 'the secret, as secret list shows it', uuid)
    .option('--json', 'print one JSON value')
    .action((secretId: string, options: { json?: boolean }) => revoke(cli, secretId, options));
}

async function revoke(cli: Cli, secretId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(actionVariables, cli.env);
  const revoked = await performAction(cli, config, (deps) => revokeProjectSecret(deps, secretId));
  printResult(cli, options, revoked, () => `Revoked the secret ${revoked.id}: it verifies nothing any more.`);
}
