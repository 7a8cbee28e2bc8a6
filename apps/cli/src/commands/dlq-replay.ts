import type { Command } from 'commander';
import { readDeadLetters, type DeadLetter } from '@hqrelay/db/queries/dead-letters';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { readProject } from '@hqrelay/db/queries/projects';
import { countReplayable, type Selection } from '@hqrelay/db/queries/replay-dead-letters';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type pg from 'pg';
import { type Cli, CommandFailure, UsageError } from '../cli.ts';
import { operatorAddress } from '../config.ts';
import { withDatabase } from '../database.ts';
import { integerBetween, label, pastMoment, uuid } from '../options/options.ts';
import { formatTime, printResult } from '../output/print.ts';
import { replayAll, ReplayTally } from '../replay/replay-tally.ts';
import { readReplayTarget } from '../replay/replay-target.ts';

type Options = {
  project?: string;
  endpoint?: string;
  since?: number;
  until?: number;
  dryRun?: boolean;
  rate: number;
  by?: string;
  json?: boolean;
};

/** What died while the command runs is left to the next, but for clocks that differ: a replay may die again meanwhile. */
const clocksDifferMs = 5_000;

export function addDlqReplay(dlq: Command, cli: Cli): void {
  const ids = (text: string, before: string[] = []) => [...before, uuid(text)];
  dlq
    .command('replay')
    .description('deliver dead letters again: those named, or all of a project or an endpoint')
    .argument('[ids...]', 'as dlq list shows them', ids)
    .option('--project <project-id>', 'all of this project', uuid)
    .option('--endpoint <endpoint-id>', 'all of this endpoint', uuid)
    .option('--since <duration|time>', 'dead since then, such as 24h or 2026-03-01T02:13Z', pastMoment)
    .option('--until <duration|time>', 'dead before then', pastMoment)
    .option('--dry-run', 'count them, and change nothing')
    .option('--rate <per-second>', 'how many a second (1 to 2000)', integerBetween(1, 2_000), 50)
    .option('--by <who>', 'who asks for it (default: the user of this computer)', label(200))
    .option('--json', 'print one JSON value')
    .action((given: string[] | undefined, options: Options) => replayDeadLetters(cli, given ?? [], options));
}

async function replayDeadLetters(cli: Cli, given: readonly string[], options: Options): Promise<void> {
  const { project: projectId, endpoint: endpointId, since, until } = options;
  const isBulk = projectId !== undefined || endpointId !== undefined;
  if (given.length > 0 && (isBulk || since !== undefined || until !== undefined)) {
    throw new UsageError('ids stand alone: --project, --endpoint, --since and --until name many at once');
  }
  if (given.length === 0 && !isBulk) {
    throw new UsageError('name dead letters by their ids, or all of a --project or of an --endpoint');
  }
  const config = loadConfig(['DATABASE_URL'], cli.env);
  const tally = new ReplayTally();
  await withDatabase(config.databaseUrl, async (pool) => {
    const selection: Selection = isBulk
      ? { filter: { projectId, endpointId, since, until: until ?? Date.now() + clocksDifferMs } }
      : { ids: await replayableIds(pool, [...new Set(given)], tally) };
    if (isBulk) await checkFilter(pool, projectId, endpointId);
    if (options.dryRun) tally.addCounts(await countReplayable(pool, selection));
    else {
      await ensurePartition(pool, Date.now());
      const { rate: perSecond, by: requestedBy = operatorAddress() } = options;
      await replayAll(pool, selection, { perSecond, requestedBy }, tally);
    }
    await tally.describeTargets((id) => readReplayTarget(pool, id));
  });
  printResult(cli, options, { dryRun: options.dryRun === true, ...tally.result(!isBulk) }, () =>
    describe(tally, options),
  );
  const failure = tally.failure();
  if (failure !== null) throw new CommandFailure(failure);
}

async function checkFilter(pool: pg.Pool, projectId?: string, endpointId?: string): Promise<void> {
  if (projectId !== undefined && !(await readProject(pool, projectId))) {
    throw new CommandFailure(`there is no project ${projectId}`);
  }
  if (endpointId !== undefined && !(await readReplayTarget(pool, endpointId))) {
    throw new CommandFailure(`there is no endpoint ${endpointId}`);
  }
}

/** The others are told of, each by itself. */
async function replayableIds(pool: pg.Pool, ids: readonly string[], tally: ReplayTally): Promise<string[]> {
  const found = new Map((await readDeadLetters(pool, ids)).map((each) => [each.id, each]));
  return ids.filter((id) => {
    const why = whyNotReplayable(found.get(id));
    if (why !== null) tally.refuse(id, why);
    return why === null;
  });
}

function whyNotReplayable(letter: DeadLetter | undefined): string | null {
  if (!letter) return 'there is no such dead letter';
  if (letter.kind !== 'delivery') return `it is no delivery (${letter.kind}: ${letter.reason})`;
  return letter.replayedAt
    ? `it was replayed at ${formatTime(letter.replayedAt)} as ${letter.replayId}`
    : null;
}

function describe(tally: ReplayTally, { dryRun, rate }: Options): string {
  const letters = `${tally.count} dead letter${tally.count === 1 ? '' : 's'}`;
  if (dryRun) return `${letters} would be delivered again, ${rate} a second.\n\n${tally.table()}`;
  const { firstDueAt, lastDueAt } = tally;
  if (!firstDueAt || !lastDueAt) return 'Nothing was replayed.';
  return `${letters} will be delivered again, ${rate} a second: the first at ${formatTime(firstDueAt)}, the last at ${formatTime(lastDueAt)}.\n\n${tally.table()}`;
}
