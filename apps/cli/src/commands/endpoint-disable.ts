import { disableEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { label, uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addEndpointDisable(endpoint: Command, cli: Cli): void {
  endpoint
    .command('disable')
    .description('owe it no new webhooks, and hold the deliveries that it is owed already')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--reason <text>', 'the reason that endpoint list shows', label(200), 'disabled by an operator')
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: { reason: string; json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => disableEndpoint(deps, endpointId, options.reason),
        (saved) => `The endpoint ${redactUrl(saved.url)} is disabled: it is owed no new webhooks.`,
      ),
    );
}
