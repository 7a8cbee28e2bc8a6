import { countReplaysOfJob, readReplayJob } from '@hqrelay/db/queries/replay-jobs';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { countOf, describeSelection, formatCounts, withoutIds } from '../output/format-replay-job.ts';
import { formatFields, printResult } from '../output/print.ts';

export function addReplayJobShow(replayJob: Command, cli: Cli): void {
  replayJob
    .command('show')
    .description('the progress of one, and how its replays fare')
    .argument('<job-id>', 'as the replay printed it', uuid)
    .option('--json', 'print one JSON value')
    .action((jobId: string, options: { json?: boolean }) => show(cli, jobId, options));
}

async function show(cli: Cli, jobId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { job, states } = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    const found = await readReplayJob(pool, jobId);
    if (!found) throw new CommandFailure(`there is no replay job ${jobId}`);
    return { job: found, states: await countReplaysOfJob(pool, jobId) };
  });
  printResult(cli, options, { ...withoutIds(job), states }, () => {
    const fields = formatFields({
      what: describeSelection(job),
      'requested by': job.requestedBy,
      'per second': job.ratePerSecond,
      replayed: `${job.replayed} of ${countOf(job)}`,
      'not replayed': formatCounts(job.notReplayed) || undefined,
      'state of its replays': formatCounts(states) || undefined,
      created: job.createdAt,
      ended: job.endedAt ?? undefined,
    });
    return `REPLAY JOB ${job.id}  ${job.state}\n${fields}`;
  });
}
