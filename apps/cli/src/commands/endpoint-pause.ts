import { pauseEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addEndpointPause(endpoint: Command, cli: Cli): void {
  endpoint
    .command('pause')
    .description('hold deliveries until the endpoint is resumed')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => pauseEndpoint(deps, endpointId),
        (saved) => `The endpoint ${redactUrl(saved.url)} is paused: its deliveries are held.`,
      ),
    );
}
