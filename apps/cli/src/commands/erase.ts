import { eraseWebhook, type ErasedWebhook } from '@hqrelay/actions/webhook/erase-webhook';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { label, webhookLogId } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';
import { readRabbitmqStatus } from '../status/read-rabbitmq-status.ts';

type Options = { reason: string; json?: boolean };

export function addErase(program: Command, cli: Cli): void {
  program
    .command('erase')
    .description("erase the payload and the headers of a webhook on a person's request; its facts stay")
    .argument('<webhook-id>', 'the id of the 202, which is the id in webhook_logs', webhookLogId)
    .requiredOption('--reason <text>', 'why, for admin_log; without personal data', label(500))
    .option('--json', 'print one JSON value')
    .action((id: string, options: Options) => erase(cli, id, options));
}

async function erase(cli: Cli, id: string, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL', 'RABBITMQ_URL'], cli.env);
  await checkNothingSpilled(config.rabbitmqUrls);
  const erased = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
    valueOf(
      cli,
      await eraseWebhook({ pool, actor: actorOfOperator() }, { webhookLogId: id, reason: options.reason }),
    ),
  );
  printResult(cli, options, erased, () => sentenceOf(erased));
}

/** A message in these queues may be a duplicate of the webhook's row, and would write the payload again. */
async function checkNothingSpilled(urls: readonly string[]): Promise<void> {
  const { reason, figures, warnings } = await readRabbitmqStatus(urls);
  const depths = figures?.depths;
  if (!depths) {
    throw new CommandFailure(
      `nothing was erased: RabbitMQ may hold rows with the payload, and cannot be asked (${reason ?? warnings.join('; ')})`,
    );
  }
  const full = ['hqrelay.audit', 'hqrelay.dead-letter'].filter((queue) => (depths.get(queue) ?? 0) > 0);
  if (full.length > 0) {
    throw new CommandFailure(
      `nothing was erased: ${full.join(' and ')} may hold rows with the payload; try again when a worker has taken them`,
    );
  }
}

function sentenceOf({ id, heldDeliveries, answersKept }: ErasedWebhook): string {
  const cancelled = heldDeliveries === 0 ? '' : ` ${heldDeliveries} held deliveries became dead letters.`;
  const kept = answersKept === 0 ? '' : ' The answers of endpoints are kept.';
  return `The payload and the headers of the webhook ${id} are erased.${cancelled}${kept}`;
}
