import { cancelReplayJob } from '@hqrelay/actions/replay/cancel-replay-job';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { countOf, withoutIds } from '../output/format-replay-job.ts';
import { printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

export function addReplayJobCancel(replayJob: Command, cli: Cli): void {
  replayJob
    .command('cancel')
    .description('end a running one: it replays nothing more')
    .argument('<job-id>', 'as the replay printed it', uuid)
    .option('--json', 'print one JSON value')
    .action((jobId: string, options: { json?: boolean }) => cancel(cli, jobId, options));
}

async function cancel(cli: Cli, jobId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const job = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
    valueOf(cli, await cancelReplayJob({ pool, actor: actorOfOperator() }, jobId)),
  );
  printResult(
    cli,
    options,
    withoutIds(job),
    () => `Cancelled the replay job ${job.id} after ${job.replayed} of ${countOf(job)} deliveries.`,
  );
}
