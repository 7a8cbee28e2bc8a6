import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { cancel } from './delivery-cancel.ts';

export function addDlqSkip(dlq: Command, cli: Cli): void {
  dlq
    .command('skip')
    .description('cancel a dead letter; what an ordered endpoint holds behind it follows')
    .argument('<id>', 'as dlq list shows it', uuid)
    .option('--json', 'print one JSON value')
    .action((deliveryId: string, options: { json?: boolean }) => cancel(cli, deliveryId, options));
}
