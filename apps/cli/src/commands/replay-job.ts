import { cancelReplayJob } from '@hqrelay/actions/replay/cancel-replay-job';
import {
  countReplaysOfJob,
  listReplayJobs,
  readReplayJob,
  type ReplayJob,
} from '@hqrelay/db/queries/replay-jobs';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { integerBetween, uuid } from '../options/options.ts';
import { formatFields, formatTable, printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

type ListOptions = { project?: string; limit: number; json?: boolean };

/** `replay-job list`, `show` and `cancel`. */
export function addReplayJobs(replayJob: Command, cli: Cli): void {
  replayJob
    .command('list')
    .description('replays of many deliveries, running and ended, the newest first')
    .option('--project <project-id>', 'of this project', uuid)
    .option('--limit <n>', 'how many at most (1 to 1000)', integerBetween(1, 1_000), 50)
    .option('--json', 'print one JSON value')
    .action((options: ListOptions) => list(cli, options));
  replayJob
    .command('show')
    .description('the progress of one, and how its replays fare')
    .argument('<job-id>', 'as the replay printed it', uuid)
    .option('--json', 'print one JSON value')
    .action((jobId: string, options: { json?: boolean }) => show(cli, jobId, options));
  replayJob
    .command('cancel')
    .description('end a running one: it replays nothing more')
    .argument('<job-id>', 'as the replay printed it', uuid)
    .option('--json', 'print one JSON value')
    .action((jobId: string, options: { json?: boolean }) => cancel(cli, jobId, options));
}

async function list(cli: Cli, options: ListOptions): Promise<void> {
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
        describe(job),
        job.requestedBy,
        job.endedAt,
      ]),
      'There are no replay jobs.',
    ),
  );
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
      what: describe(job),
      'requested by': job.requestedBy,
      'per second': job.ratePerSecond,
      replayed: `${job.replayed} of ${countOf(job)}`,
      'not replayed': pairs(job.notReplayed) || undefined,
      'state of its replays': pairs(states) || undefined,
      created: job.createdAt,
      ended: job.endedAt ?? undefined,
    });
    return `REPLAY JOB ${job.id}  ${job.state}\n${fields}`;
  });
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

/** The job with the number of its dead letters instead of their ids, of which there may be thousands. */
function withoutIds({ selection, ...job }: ReplayJob) {
  return {
    ...job,
    selection:
      selection.kind === 'dead_letter_ids' ? { kind: selection.kind, ids: selection.ids.length } : selection,
  };
}

function countOf({ count, countCapped }: ReplayJob): string {
  return countCapped ? `${count} or more` : `${count}`;
}

function describe({ selection }: ReplayJob): string {
  const period = (since: number | undefined, until: number) =>
    `${since === undefined ? '' : `from ${new Date(since).toISOString()} `}to ${new Date(until).toISOString()}`;
  switch (selection.kind) {
    case 'dead_letter_ids':
      return `${selection.ids.length} dead letters`;
    case 'dead_letters':
      return `dead letters ${period(selection.since, selection.until)}`;
    case 'webhooks':
      return `${selection.missing ? 'missing webhooks' : 'webhooks'} ${period(selection.since, selection.until)}`;
  }
}

function pairs(counts: Readonly<Partial<Record<string, number>>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
