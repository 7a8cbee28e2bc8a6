import type { Command } from 'commander';
import { timeOfId } from '@hqrelay/domain/ids';
import * as queries from '@hqrelay/db/queries/webhooks';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { webhookLogId } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { bodyText, formatWebhook } from '../output/format-webhook.ts';

const bodyBytesMax = 4_096;

export function addWebhookShow(webhook: Command, cli: Cli): void {
  webhook
    .command('show')
    .description('a webhook, its deliveries and all their attempts')
    .argument('<id>', 'the id of the 202, which is the id in webhook_logs', webhookLogId)
    .option('--json', 'print one JSON value')
    .action((id: string, options: { json?: boolean }) => showWebhook(cli, id, options));
}

async function showWebhook(cli: Cli, id: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const receivedAt = timeOfId(id);
  const details = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    queries.readWebhookDetails(pool, { id, receivedAt, bodyBytesMax }),
  );
  if (!details) {
    const when = new Date(receivedAt).toISOString();
    throw new CommandFailure(`there is no webhook ${id} (an id of ${when}); its row can be a moment late`);
  }
  const { payload } = details;
  const shown = {
    webhook: details.webhook,
    payload: payload && {
      headers: payload.headers,
      query: payload.query,
      bytes: payload.bytes,
      text: bodyText(payload.body),
    },
    deliveries: details.deliveries,
    attempts: details.attempts,
    replays: details.replays,
  };
  printResult(cli, options, shown, () => formatWebhook(details, Date.now()));
}
