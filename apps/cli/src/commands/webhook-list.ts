import { type Command, Option } from 'commander';
import * as queries from '@hqrelay/db/queries/webhooks';
import { readProject } from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { durationBetween, integerBetween, uuid } from '../options/options.ts';
import { explanationsOf } from '../output/explain-reasons.ts';
import { formatDuration, formatTable, printResult } from '../output/print.ts';

type Options = {
  project: string;
  status?: queries.WebhookStatus;
  since: number;
  limit: number;
  json?: boolean;
};

const hourMs = 3_600_000;

export function addWebhookList(webhook: Command, cli: Cli): void {
  webhook
    .command('list')
    .description("a project's webhooks, the newest first")
    .requiredOption('--project <project-id>', 'the project', uuid)
    .addOption(new Option('--status <status>', 'only these').choices(queries.webhookStatuses))
    .addOption(
      new Option('--since <duration>', 'how far back (1s to 366d)')
        .argParser(durationBetween('1s', '366d'))
        .default(24 * hourMs, '24h'),
    )
    .option('--limit <n>', 'how many at most (1 to 1000)', integerBetween(1, 1_000), 50)
    .option('--json', 'print one JSON value')
    .action((options: Options) => listWebhooks(cli, options));
}

async function listWebhooks(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { project: projectId, status, since: sinceMs, limit } = options;
  const found = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    if (!(await readProject(pool, projectId))) throw new CommandFailure(`there is no project ${projectId}`);
    return queries.listWebhooks(pool, { projectId, status, sinceMs, limit: limit + 1 });
  });
  const webhooks = found.slice(0, limit);
  printResult(cli, options, webhooks, () => {
    const table = formatTable(
      ['RECEIVED', 'WEBHOOK', 'STATUS', 'EVENT TYPE', 'DELIVERIES', 'WEBHOOK ID', 'REASON'],
      webhooks.map((each) => [
        each.receivedAt,
        each.id,
        each.requestCount > 1 ? `${each.status} ×${each.requestCount}` : each.status,
        each.eventType,
        countDeliveries(each.deliveries),
        each.webhookId,
        each.reason,
      ]),
      `No webhooks in the last ${formatDuration(sinceMs)}: look further back with --since.`,
    );
    const more =
      found.length > limit ? `The newest ${limit} of more: raise --limit or shorten --since.` : null;
    const parts = [table, explanationsOf(webhooks.map(({ reason }) => reason)), more];
    return parts.filter((part) => part !== null).join('\n\n');
  });
}

function countDeliveries(deliveries: Partial<Record<string, number>>): string {
  const counts = Object.entries(deliveries).map(([state, count]) => `${count} ${state}`);
  return counts.join(', ') || 'none';
}
