import type { Command } from 'commander';
import type { EndpointChanges } from '@hqrelay/db/queries/endpoints';
import type { Cli } from '../cli.ts';
import { integerBetween, label, uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { saveEndpoint } from '../config-change/save-endpoint.ts';

type Switch = {
  name: string;
  description: string;
  changes: EndpointChanges;
  done: string;
  /** Lets go what was held. */
  releases?: true;
};

const switches: readonly Switch[] = [
  {
    name: 'pause',
    description: 'hold deliveries until the endpoint is resumed',
    changes: { paused: true },
    done: 'is paused: its deliveries are held',
  },
  {
    name: 'resume',
    description: 'end a pause: what was held goes, oldest first, beside what is new',
    changes: { paused: false },
    done: 'is not paused any more',
    releases: true,
  },
  {
    name: 'enable',
    description: 'owe it webhooks again; what was held goes, oldest first',
    changes: { enabled: true, disabledBy: null, disabledReason: null },
    done: 'is enabled',
    releases: true,
  },
  {
    name: 'disable',
    description: 'owe it no new webhooks, and hold the deliveries it is owed already',
    changes: { enabled: false, disabledBy: 'person', disabledReason: 'disabled by an operator' },
    done: 'is disabled: it is owed no new webhooks',
  },
];

/** What one worker lets go of one endpoint. */
const releaseRateMax = 2_000;

/** `endpoint pause`, `resume`, `enable` and `disable`. */
export function addEndpointSwitches(endpoint: Command, cli: Cli): void {
  for (const { name, description, changes, done, releases } of switches) {
    const command = endpoint
      .command(name)
      .description(description)
      .argument('<endpoint-id>', 'the endpoint', uuid);
    if (name === 'disable') {
      command.option('--reason <text>', 'what endpoint list shows', label(200));
    }
    if (releases) {
      command.option(
        '--rate <per-second>',
        'how fast what was held goes; stays until it is changed (default: 100)',
        integerBetween(1, releaseRateMax),
      );
    }
    command
      .option('--json', 'print one JSON value')
      .action(async (endpointId: string, options: { reason?: string; rate?: number; json?: boolean }) => {
        const saved = await saveEndpoint(cli, endpointId, {
          ...changes,
          ...(options.reason && { disabledReason: options.reason }),
          ...(options.rate !== undefined && { releaseRate: options.rate }),
        });
        const rate = releases ? ` Held deliveries go at ${saved.releaseRate} a second.` : '';
        printResult(cli, options, saved, () => `The endpoint ${saved.url} ${done}.${rate}`);
      });
  }
}
