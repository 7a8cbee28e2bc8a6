import { enableEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { addReleaseRateOption, describeRelease, type ReleaseRateOption } from '../options/release-rate.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addEndpointEnable(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('enable')
    .description('owe it webhooks again; held deliveries are released, oldest first')
    .argument('<endpoint-id>', 'the endpoint', uuid);
  addReleaseRateOption(command)
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: ReleaseRateOption & { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => enableEndpoint(deps, endpointId, { releaseRate: options.rate }),
        (saved) => `The endpoint ${redactUrl(saved.url)} is enabled. ${describeRelease(saved)}`,
      ),
    );
}
