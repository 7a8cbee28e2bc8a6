import { revokeApiKey } from '@hqrelay/actions/api-key/revoke-api-key';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

export function addApiKeyRevoke(apiKey: Command, cli: Cli): void {
  apiKey
    .command('revoke')
    .description('stop a key from being accepted, at once and for good')
    .argument('<api-key-id>', 'the key, as api-key list shows it', uuid)
    .option('--json', 'print one JSON value')
    .action((apiKeyId: string, options: { json?: boolean }) => revoke(cli, apiKeyId, options));
}

async function revoke(cli: Cli, apiKeyId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const revoked = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
    valueOf(cli, await revokeApiKey({ pool, actor: actorOfOperator() }, apiKeyId)),
  );
  printResult(cli, options, revoked, () => `Revoked the API key ${revoked.name}: it is accepted no more.`);
}
