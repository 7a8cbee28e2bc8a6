import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/dead-letters';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { integerBetween, pastMoment, uuid } from '../options/options.ts';
import { formatTable, formatTime, printResult } from '../output/print.ts';

type Options = {
  project?: string;
  endpoint?: string;
  since?: number;
  limit: number;
  all?: boolean;
  json?: boolean;
};

export function addDlqList(dlq: Command, cli: Cli): void {
  dlq
    .command('list')
    .description('dead letters that were not replayed, the newest first')
    .option('--project <project-id>', 'of this project', uuid)
    .option('--endpoint <endpoint-id>', 'of this endpoint', uuid)
    .option('--since <duration|time>', 'dead since then, such as 24h or 2026-03-01T02:13Z', pastMoment)
    .option('--limit <n>', 'how many at most (1 to 1000)', integerBetween(1, 1_000), 50)
    .option('--all', 'also those that were replayed')
    .option('--json', 'print one JSON value')
    .action((options: Options) => listDeadLetters(cli, options));
}

async function listDeadLetters(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { project: projectId, endpoint: endpointId, since, limit } = options;
  const { deadLetters, total } = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    queries.listDeadLetters(pool, {
      filter: { projectId, endpointId, since },
      all: options.all === true,
      limit,
    }),
  );
  const more =
    total > deadLetters.length ? `The newest ${deadLetters.length} of ${total}: raise --limit.` : null;
  // A JSON list cannot say that it is cut, so stderr does.
  if (more && options.json) cli.warn(`${more}\n`);
  printResult(cli, options, deadLetters, () => {
    const table = tableOf(
      deadLetters,
      options.all ? 'No dead letters.' : 'No dead letters that were not replayed; --all shows the others.',
    );
    return more ? `${table}\n\n${more}` : table;
  });
}

function tableOf(deadLetters: readonly queries.DeadLetter[], whenEmpty: string): string {
  return formatTable(
    [
      'DEAD AT',
      'ID',
      'REASON',
      'ENDPOINT',
      'URL',
      'ATTEMPTS',
      'LAST ANSWER',
      'WEBHOOK',
      'WEBHOOK ID',
      'REPLAYED',
    ],
    deadLetters.map((each) => [
      each.deadAt,
      each.id,
      each.kind === 'delivery' ? each.reason : `${each.kind}: ${each.reason}`,
      each.endpointId,
      each.endpointUrl,
      each.kind === 'delivery' ? each.attempts : null,
      each.lastError ?? (each.lastStatusCode === null ? null : `HTTP ${each.lastStatusCode}`),
      each.webhookLogId,
      each.webhookId,
      each.replayedAt &&
        `${formatTime(each.replayedAt)} ${each.replayId ? `as ${each.replayId}` : '(erased or cancelled)'}`,
    ]),
    whenEmpty,
  );
}
