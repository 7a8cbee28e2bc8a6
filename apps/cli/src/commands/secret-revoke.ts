import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/project-secrets';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from '../config-change/announce-change.ts';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';

export function addSecretRevoke(secret: Command, cli: Cli): void {
  secret
    .command('revoke')
    .description('stop a secret from verifying, everywhere and for good')
    .argument('<secret-id>', 'the secret, as secret list shows it', uuid)
    .option('--json', 'print one JSON value')
    .action((secretId: string, options: { json?: boolean }) => revokeSecret(cli, secretId, options));
}

async function revokeSecret(cli: Cli, secretId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['DATABASE_URL', 'REDIS_URL', 'CONFIG_CACHE_TTL_SECONDS'], cli.env);
  const { revoked, others } = await withDatabase(config.databaseUrl, async (pool) => {
    const secret = await queries.revokeProjectSecret(pool, secretId);
    if (!secret) throw new CommandFailure(`there is no secret ${secretId}`);
    return { revoked: secret, others: await queries.listProjectSecrets(pool, secret.projectId) };
  });
  await announceChange(cli, config, revoked.projectId);
  const activeSecrets = others.filter((secret) => secret.status === 'active').length;
  if (activeSecrets === 0) {
    cli.warn('warning: the project has no active secret left: its webhooks are answered 401\n');
  }
  printResult(cli, options, revoked, () => `Revoked. The project has ${activeSecrets} active secrets.`);
}
