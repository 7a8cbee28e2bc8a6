import { rotateEndpointSecret } from '@hqrelay/actions/endpoint/rotate-endpoint-secret';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { overlapOption, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = { overlap: number; json?: boolean };

export function addEndpointRotateSecret(endpoint: Command, cli: Cli): void {
  endpoint
    .command('rotate-secret')
    .description('give an endpoint a new signing secret; the old one signs too until the overlap ends')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .addOption(overlapOption('how long deliveries carry both signatures'))
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: Options) => rotate(cli, endpointId, options));
}

async function rotate(cli: Cli, endpointId: string, options: Options): Promise<void> {
  const config = loadConfig([...actionVariables, 'HQRELAY_SECRETS_KEY'], cli.env);
  const { signingSecret, overlapEndsAt } = await performAction(cli, config, (deps) =>
    rotateEndpointSecret(deps, { endpointId, overlapMs: options.overlap }),
  );
  printResult(cli, options, { endpointId, signingSecret, overlapEndsAt }, () => {
    const fields = { 'signing secret': signingSecret, 'old one signs until': overlapEndsAt };
    return `The endpoint has a new signing secret, which is shown this once only.\n${formatFields(fields)}`;
  });
}
