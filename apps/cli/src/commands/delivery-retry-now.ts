import { retryDeliveryNow } from '@hqrelay/actions/delivery/retry-delivery-now';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { formatDecided } from '../output/format-decided.ts';
import { printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

export function addDeliveryRetryNow(delivery: Command, cli: Cli): void {
  delivery
    .command('retry-now')
    .description('make the next attempt of a waiting or held one at once')
    .argument('<delivery-id>', 'as webhook show prints it', uuid)
    .option('--json', 'print one JSON value')
    .action(async (deliveryId: string, options: { json?: boolean }) => {
      const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
      const decided = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
        valueOf(
          cli,
          await retryDeliveryNow({ pool, actor: actorOfOperator() }, { deliveryId, now: Date.now() }),
        ),
      );
      printResult(cli, options, decided, () => formatDecided(decided));
    });
}
