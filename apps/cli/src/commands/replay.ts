import type { Command } from 'commander';
import { timeOfId } from '@hqrelay/domain/ids';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { readRecordedWebhooks, replayWebhook } from '@hqrelay/db/queries/replays';
import { readWebhook, type Webhook } from '@hqrelay/db/queries/webhooks';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type pg from 'pg';
import { type Cli, CommandFailure } from '../cli.ts';
import { operatorAddress } from '../config.ts';
import { withDatabase } from '../database.ts';
import { label, uuid, webhookLogId } from '../options/options.ts';
import { formatTable, printResult } from '../output/print.ts';
import { encodeReplay } from '../replay/replay-message.ts';
import { heldNote, readReplayTarget, type ReplayTarget } from '../replay/replay-target.ts';

type Options = { endpoint?: string; by?: string; json?: boolean };

export function addReplay(program: Command, cli: Cli): void {
  program
    .command('replay')
    .description('deliver a webhook again, to the endpoints it owes or to one of its project')
    .argument('<webhook>', 'the id of the 202, which is the id in webhook_logs', webhookLogId)
    .option('--endpoint <endpoint-id>', 'to this endpoint alone, also one that was added later', uuid)
    .option('--by <who>', 'who asks for it (default: the user of this computer)', label(200))
    .option('--json', 'print one JSON value')
    .action((id: string, options: Options) => replay(cli, id, options));
}

async function replay(cli: Cli, id: string, options: Options): Promise<void> {
  const config = loadConfig(['DATABASE_URL'], cli.env);
  const now = Date.now();
  const { targets, replays } = await withDatabase(config.databaseUrl, async (pool) => {
    const webhook = await readWebhook(pool, { id, receivedAt: timeOfId(id) });
    if (!webhook) throw new CommandFailure(`there is no webhook ${id}; its row can be a moment late`);
    const recorded = (await readRecordedWebhooks(pool, [id])).get(id);
    if (!recorded) throw new CommandFailure(whyWithoutPayload(webhook));
    const targets = await targetsOf(pool, webhook, options.endpoint);
    await ensurePartition(pool, now);
    const endpointIds = targets.map(({ endpointId }) => endpointId);
    const requestedBy = options.by ?? operatorAddress();
    const replays = await replayWebhook(pool, recorded, endpointIds, {
      requestedBy,
      now,
      encode: encodeReplay,
    });
    return { targets, replays };
  });
  const shown = replays.map(({ replayId, deliveryId, endpointId, dueAt }, index) => {
    const { url, heldBecause } = targets[index] as ReplayTarget;
    return { replayId, deliveryId, endpointId, url, dueAt: new Date(dueAt), heldBecause };
  });
  printResult(cli, options, { id, replays: shown }, () => {
    const table = formatTable(
      ['ENDPOINT', 'URL', 'REPLAY', 'DELIVERY', 'NOTE'],
      shown.map((each) => [each.endpointId, each.url, each.replayId, each.deliveryId, heldNote(each)]),
      '',
    );
    return `The webhook ${id} is delivered again:\n\n${table}\n\nhqrelay webhook show ${id} tells what becomes of it.`;
  });
}

async function targetsOf(
  pool: pg.Pool,
  { id, projectId, endpointIds, status }: Webhook,
  named: string | undefined,
): Promise<ReplayTarget[]> {
  const wanted = named === undefined ? endpointIds : [named];
  if (wanted.length === 0) {
    throw new CommandFailure(
      `the webhook ${id} (${status}) owes no endpoint: name one of its project with --endpoint`,
    );
  }
  const targets: ReplayTarget[] = [];
  for (const endpointId of wanted) {
    const target = await readReplayTarget(pool, endpointId);
    if (!target) throw new CommandFailure(`there is no endpoint ${endpointId}`);
    if (target.projectId !== projectId) {
      throw new CommandFailure(
        `the endpoint ${endpointId} is of another project than the webhook, whose project is ${projectId}`,
      );
    }
    targets.push(target);
  }
  return targets;
}

function whyWithoutPayload({ id, status, reason, duplicateOf }: Webhook): string {
  const because = reason === null ? '' : ` (${reason})`;
  switch (status) {
    case 'queued':
    case 'conflict':
      return `the webhook ${id} cannot be replayed: its payload is gone (PAYLOAD_RETENTION_DAYS)`;
    case 'duplicate':
      return `${id} is a duplicate of the webhook ${duplicateOf}, which has the payload: replay that one`;
    case 'failed_to_queue':
      return `${id} was answered 503${because} and its payload was not kept: the provider sends it again`;
    case 'rate_limited':
    case 'rejected':
      return `${id} was ${status}${because}, and the payload of such a request is not kept`;
  }
}
