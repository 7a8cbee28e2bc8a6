import { resumeEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { addReleaseRateOption, describeRelease, type ReleaseRateOption } from '../options/release-rate.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addEndpointResume(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('resume')
    .description('end a pause; held deliveries are released, oldest first, beside new ones')
    .argument('<endpoint-id>', 'the endpoint', uuid);
  addReleaseRateOption(command)
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: ReleaseRateOption & { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => resumeEndpoint(deps, endpointId, { releaseRate: options.rate }),
        (saved) => `The endpoint ${redactUrl(saved.url)} is not paused any more. ${describeRelease(saved)}`,
      ),
    );
}
