import { archiveEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addEndpointArchive(endpoint: Command, cli: Cli): void {
  endpoint
    .command('archive')
    .description('disable and hide it, for good; what it is owed stays held and in the books')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => archiveEndpoint(deps, endpointId),
        (saved) => `The endpoint ${redactUrl(saved.url)} is archived: nothing is sent to it any more.`,
      ),
    );
}
