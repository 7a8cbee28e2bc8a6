import { listReplayJobs } from '@hqrelay/db/queries/replay-jobs';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { integerBetween, uuid } from '../options/options.ts';
import { countOf, describeSelection, withoutIds } from '../output/format-replay-job.ts';
import { formatTable, printResult } from '../output/print.ts';

type Options = { project?: string; limit: number; json?: boolean };

export function addReplayJobList(replayJob: Command, cli: Cli): void {
  replayJob
    .command('list')
    .description('replays of many deliveries, running and ended, the newest first')
    .option('--project <project-id>', 'of this project', uuid)
    .option('--limit <n>', 'how many at most (1 to 1000)', integerBetween(1, 1_000), 50)
    .option('--json', 'print one JSON value')
    .action((options: Options) => list(cli, options));
}

async function list(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { project: projectId, limit } = options;
  const jobs = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    listReplayJobs(pool, { projectId, limit }),
  );
  printResult(cli, options, jobs.map(withoutIds), () =>
    formatTable(
      ['CREATED', 'JOB', 'STATE', 'REPLAYED', 'OF', 'PER SECOND', 'WHAT', 'BY', 'ENDED'],
      jobs.map((job) => [
        job.createdAt,
        job.id,
        job.state,
        job.replayed,
        countOf(job),
        job.ratePerSecond,
        describeSelection(job),
        job.requestedBy,
        job.endedAt,
      ]),
      'There are no replay jobs.',
    ),
  );
}
