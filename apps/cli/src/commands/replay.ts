import { replayWebhook, type ReplayTo } from '@hqrelay/actions/replay/replay-webhook';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { operatorAddress } from '../config.ts';
import { withDatabase } from '../database.ts';
import { pastMoment, uuid, webhookLogId } from '../options/options.ts';
import { addReplayJobOptions, type ReplayJobOptions } from '../options/replay-options.ts';
import { formatTable, printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';
import { replayMany } from '../replay-many.ts';

type Options = ReplayJobOptions & { endpoint?: string; since?: number; until?: number; missing?: boolean };

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command('replay')
    .description('send a webhook again, or all webhooks of a period to one endpoint')
    .argument('[webhook]', 'the id of the 202, which is the id in webhook_logs', webhookLogId)
    .option('--endpoint <endpoint-id>', 'to this endpoint alone, also one that was added later', uuid)
    .option('--since <duration|time>', 'all that came since then and its event filter takes', pastMoment)
    .option('--until <duration|time>', 'all that came before then (default: now)', pastMoment)
    .option('--missing', 'only what the endpoint has not got, also what it was never owed');
  addReplayJobOptions(command).action((id: string | undefined, options: Options) =>
    id === undefined ? replayPeriod(cli, options) : replayOne(cli, id, options),
  );
}

async function replayPeriod(cli: Cli, options: Options): Promise<void> {
  const { endpoint: endpointId, since, missing = false } = options;
  const until = options.until ?? Date.now();
  if (endpointId === undefined || since === undefined) {
    throw new UsageError('name a webhook, or a period with --endpoint and --since');
  }
  if (since >= until) throw new UsageError('--since is not before --until: the period is empty');
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  await withDatabase(config.consoleDatabaseUrl, (pool) =>
    replayMany(cli, pool, { kind: 'webhooks', endpointId, since, until, missing }, options),
  );
}

async function replayOne(cli: Cli, id: string, options: Options): Promise<void> {
  const { since, until, missing, dryRun } = options;
  if (since !== undefined || until !== undefined || missing || dryRun) {
    throw new UsageError(
      'a webhook stands alone: --since, --until, --missing and --dry-run are for a period',
    );
  }
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const { replays, jobId } = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    const requestedBy = options.by ?? operatorAddress();
    const endpointIds = options.endpoint === undefined ? undefined : [options.endpoint];
    const input = { webhookLogId: id, endpointIds, requestedBy, now: Date.now() };
    return valueOf(cli, await replayWebhook({ pool, actor: actorOfOperator() }, input));
  });
  const shown = replays.map(({ endpoint, replay }) => ({
    replayId: replay.replayId,
    deliveryId: replay.deliveryId,
    endpointId: endpoint.id,
    url: endpoint.url,
    dueAt: new Date(replay.dueAt),
    heldBecause: heldBecause(endpoint),
  }));
  const result = jobId === null ? { id, replays: shown } : { jobId, count: replays.length };
  printResult(cli, options, result, () => {
    const table = formatTable(
      ['ENDPOINT', 'URL', 'REPLAY', 'DELIVERY', 'NOTE'],
      shown.map((each) => [
        each.endpointId,
        each.url,
        each.replayId,
        each.deliveryId,
        each.heldBecause && `the endpoint is ${each.heldBecause}: held until it is not`,
      ]),
      '',
    );
    return `The webhook ${id} is sent again:\n\n${table}\n\nhqrelay webhook show ${id} shows its deliveries.`;
  });
}

function heldBecause({ enabled, paused }: ReplayTo['endpoint']): 'paused' | 'disabled' | null {
  if (!enabled) return 'disabled';
  return paused ? 'paused' : null;
}
