import { countReplay, createReplayJob, type ReplayCount } from '@hqrelay/actions/replay/create-replay-job';
import type { ReplaySelection } from '@hqrelay/db/queries/replay-selection';
import type pg from 'pg';
import type { Cli } from './cli.ts';
import { operatorAddress } from './config.ts';
import type { ReplayJobOptions } from './options/replay-options.ts';
import { formatDuration, printResult } from './output/print.ts';
import { actorOfOperator, valueOf } from './perform-action.ts';

const reasons: Readonly<Record<keyof ReplayCount['notReplayed'], string>> = {
  payload_dropped: 'the payload was dropped (PAYLOAD_RETENTION_DAYS) or erased',
  not_recorded: 'the webhook is not in Postgres yet: try again later',
  no_endpoint: 'there is no such endpoint',
  endpoint_archived: 'the endpoint is archived',
};

/** Counts the deliveries of a selection, or creates a job that replays them, and prints the result. */
export async function replayMany(
  cli: Cli,
  pool: pg.Pool,
  selection: ReplaySelection,
  options: ReplayJobOptions,
): Promise<void> {
  if (options.dryRun) {
    const { count, capped, notReplayed } = valueOf(cli, await countReplay(pool, selection));
    warnOfOthers(cli, notReplayed);
    printResult(cli, options, { count, capped }, () => `${amountOf(count, capped)} would be sent again.`);
    return;
  }
  const { rate: ratePerSecond, by: requestedBy = operatorAddress() } = options;
  const input = { selection, ratePerSecond, requestedBy, now: Date.now() };
  const created = valueOf(cli, await createReplayJob({ pool, actor: actorOfOperator() }, input));
  const { id: jobId, count, countCapped } = created.job;
  warnOfOthers(cli, created.notReplayed);
  printResult(cli, options, { jobId, count }, () => {
    const lasts = formatDuration((count / ratePerSecond) * 1_000);
    return (
      `${amountOf(count, countCapped)} are sent again, ${ratePerSecond} a second: about ${lasts}${countCapped ? ' or more' : ''}.\n` +
      `hqrelay replay-job show ${jobId} shows the progress, hqrelay replay-job cancel ${jobId} ends it.`
    );
  });
}

function amountOf(count: number, capped: boolean): string {
  return `${count}${capped ? ' or more' : ''} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

function warnOfOthers(cli: Cli, notReplayed: ReplayCount['notReplayed']): void {
  for (const [reason, count] of Object.entries(notReplayed) as [keyof typeof reasons, number][]) {
    cli.warn(`note: ${count} cannot be replayed: ${reasons[reason]}\n`);
  }
}
