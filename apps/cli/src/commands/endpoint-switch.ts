import type { Command } from 'commander';
import type { EndpointChanges } from '@hqrelay/db/queries/endpoints';
import type { Cli } from '../cli.ts';
import { label, uuid } from '../options.ts';
import { printResult } from '../print.ts';
import { saveEndpoint } from '../save-endpoint.ts';

type Switch = { name: string; description: string; changes: EndpointChanges; done: string };

const switches: readonly Switch[] = [
  {
    name: 'pause',
    description: 'hold deliveries until the endpoint is resumed',
    changes: { paused: true },
    done: 'is paused: its deliveries are held',
  },
  {
    name: 'resume',
    description: 'end a pause',
    changes: { paused: false },
    done: 'is not paused any more',
  },
  {
    name: 'enable',
    description: 'owe it webhooks again',
    changes: { enabled: true, disabledReason: null },
    done: 'is enabled',
  },
  {
    name: 'disable',
    description: 'owe it no new webhooks, and hold the deliveries it is owed already',
    changes: { enabled: false, disabledReason: 'disabled by an operator' },
    done: 'is disabled: it is owed no new webhooks',
  },
];

/** `endpoint pause`, `resume`, `enable` and `disable`. */
export function addEndpointSwitches(endpoint: Command, cli: Cli): void {
  for (const { name, description, changes, done } of switches) {
    const command = endpoint
      .command(name)
      .description(description)
      .argument('<endpoint-id>', 'the endpoint', uuid);
    if (name === 'disable') {
      command.option('--reason <text>', 'what endpoint list shows', label(200));
    }
    command
      .option('--json', 'print one JSON value')
      .action(async (endpointId: string, options: { reason?: string; json?: boolean }) => {
        const reason = options.reason && { disabledReason: options.reason };
        const saved = await saveEndpoint(cli, endpointId, { ...changes, ...reason });
        printResult(cli, options, saved, () => `The endpoint ${saved.url} ${done}.`);
      });
  }
}
