import { cancelDelivery } from '@hqrelay/actions/delivery/cancel-delivery';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { formatDecided } from '../output/format-decided.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

export function addDeliveryCancel(delivery: Command, cli: Cli): void {
  delivery
    .command('cancel')
    .description('make no further attempt of one that waits, is held or is dead')
    .argument('<delivery-id>', 'as webhook show prints it', uuid)
    .option('--json', 'print one JSON value')
    .action((deliveryId: string, options: { json?: boolean }) => cancel(cli, deliveryId, options));
}

export async function cancel(cli: Cli, deliveryId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(actionVariables, cli.env);
  const decided = await performAction(cli, config, (deps) =>
    cancelDelivery(deps, { deliveryId, now: Date.now() }),
  );
  printResult(cli, options, decided, () => formatDecided(decided));
}
