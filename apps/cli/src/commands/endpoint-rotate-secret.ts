import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/endpoints';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from '../config-change/announce-change.ts';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { newEndpointSecret } from '../options/new-secret.ts';
import { durationBetween, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';

type Options = { overlap: number; json?: boolean };

const dayMs = 86_400_000;

export function addEndpointRotateSecret(endpoint: Command, cli: Cli): void {
  endpoint
    .command('rotate-secret')
    .description('give an endpoint a new signing secret; the old one signs along until the overlap ends')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .addOption(
      endpoint
        .createOption('--overlap <duration>', 'how long deliveries carry both signatures (0s to 90d)')
        .argParser(durationBetween('0s', '90d'))
        .default(dayMs, '24h'),
    )
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: Options) => rotateSecret(cli, endpointId, options));
}

async function rotateSecret(cli: Cli, endpointId: string, options: Options): Promise<void> {
  const config = loadConfig(
    ['DATABASE_URL', 'REDIS_URL', 'HQRELAY_SECRETS_KEY', 'CONFIG_CACHE_TTL_SECONDS'],
    cli.env,
  );
  const { value, row } = newEndpointSecret(config);
  const rotated = await withDatabase(config.databaseUrl, (pool) =>
    queries.rotateEndpointSecret(pool, { endpointId, secret: row, overlapMs: options.overlap }),
  );
  if (!rotated) throw new CommandFailure(`there is no endpoint ${endpointId}`);
  await announceChange(cli, config, rotated.projectId);
  const result = { endpointId, signingSecret: value, overlapEndsAt: rotated.overlapEndsAt };
  printResult(cli, options, result, () => {
    const fields = { 'signing secret': value, 'old one signs until': rotated.overlapEndsAt };
    return `The endpoint has a new signing secret, which is shown this once only.\n${formatFields(fields)}`;
  });
}
