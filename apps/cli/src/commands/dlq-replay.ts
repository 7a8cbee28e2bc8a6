import { sortDeadLetters } from '@hqrelay/actions/replay/sort-dead-letters';
import type { ReplaySelection } from '@hqrelay/db/queries/replay-selection';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type pg from 'pg';
import { type Cli, CommandFailure, UsageError } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { pastMoment, uuid } from '../options/options.ts';
import { addReplayJobOptions, type ReplayJobOptions } from '../options/replay-options.ts';
import { replayMany } from '../replay-many.ts';

type Options = ReplayJobOptions & { project?: string; endpoint?: string; since?: number; until?: number };

/** How far a worker's clock may be ahead. Later dead letters are left out: they may be replays of this job that died again. */
const clockSkewMs = 5_000;

export function addDlqReplay(dlq: Command, cli: Cli): void {
  const ids = (text: string, before: string[] = []) => [...before, uuid(text)];
  const command = dlq
    .command('replay')
    .description('send dead letters again: those named, or all of a project or an endpoint')
    .argument('[ids...]', 'as dlq list shows them', ids)
    .option('--project <project-id>', 'all of this project', uuid)
    .option('--endpoint <endpoint-id>', 'all of this endpoint', uuid)
    .option('--since <duration|time>', 'dead since then, such as 24h or 2026-03-01T02:13Z', pastMoment)
    .option('--until <duration|time>', 'dead before then', pastMoment);
  addReplayJobOptions(command).action((given: string[] | undefined, options: Options) =>
    replay(cli, given ?? [], options),
  );
}

async function replay(cli: Cli, given: readonly string[], options: Options): Promise<void> {
  const { project: projectId, endpoint: endpointId, since, until } = options;
  const isBulk = projectId !== undefined || endpointId !== undefined;
  if (given.length > 0 && (isBulk || since !== undefined || until !== undefined)) {
    throw new UsageError('ids stand alone: --project, --endpoint, --since and --until name many at once');
  }
  if (given.length === 0 && !isBulk) {
    throw new UsageError('name dead letters by their ids, or all of a --project or of an --endpoint');
  }
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    if (given.length > 0) return replayNamed(cli, pool, given, options);
    const period = { since, until: until ?? Date.now() + clockSkewMs };
    return replayMany(cli, pool, { kind: 'dead_letters', projectId, endpointId, ...period }, options);
  });
}

/** Replays the dead letters that can be replayed, and fails with a sentence for each of the others. */
async function replayNamed(
  cli: Cli,
  pool: pg.Pool,
  given: readonly string[],
  options: Options,
): Promise<void> {
  const { replayable: ids, problems } = await sortDeadLetters(pool, given);
  const selection: ReplaySelection = { kind: 'dead_letter_ids', ids };
  if (ids.length > 0) await replayMany(cli, pool, selection, options);
  if (problems.length > 0) {
    throw new CommandFailure(problems.map(({ id, why }) => `${id} cannot be replayed: ${why}`).join('\n'));
  }
}
