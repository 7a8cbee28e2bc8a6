import { inTransaction } from '@hqrelay/db/in-transaction';
import { readEndpoint, type Endpoint } from '@hqrelay/db/queries/endpoints';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import {
  insertReplays,
  markDeadLettersReplayed,
  newReplay,
  readRecordedWebhooks,
  type Replay,
} from '@hqrelay/db/queries/replays';
import { readWebhook, type Webhook } from '@hqrelay/db/queries/webhooks';
import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { encodeReplay } from './encode-replay.ts';

export type ReplayTo = { endpoint: Endpoint; replay: Replay };

/** Delivers one webhook again, at once: to the endpoints that it owes, or to the one of its project that is named. */
export async function replayWebhook(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  input: { webhookLogId: string; endpointId?: string | undefined; requestedBy: string; now: number },
): Promise<ActionResult<ReplayTo[]>> {
  const { webhookLogId: id, requestedBy, now } = input;
  const webhook = await readWebhook(pool, { id, receivedAt: timeOfId(id) });
  if (!webhook) {
    return refused('webhook.not_found', `there is no webhook ${id}; its row can be a moment late`);
  }
  const recorded = (await readRecordedWebhooks(pool, [id])).get(id);
  if (!recorded) return refused('webhook.not_replayable', whyWithoutPayload(webhook));
  const targets = await findTargets(pool, webhook, input.endpointId);
  if (targets.kind === 'refused') return targets;
  await ensurePartition(pool, now);
  const made = targets.value.map((endpoint) => ({ endpoint, replay: newReplay(id, endpoint.id, now, now) }));
  const replays = made.map(({ replay }) => replay);
  await inTransaction(pool, async (client) => {
    const messages = replays.map((replay) => ({ replay, message: encodeReplay(recorded, replay) }));
    await insertReplays(client, messages, { requestedBy, now });
    await markDeadLettersReplayed(client, replays, now);
    await recordChange(client, actor, {
      action: 'webhook.replay',
      projectId: webhook.projectId,
      target: id,
      before: null,
      after: {
        requestedBy,
        replays: replays.map(({ replayId, endpointId }) => ({ replayId, endpointId })),
      },
    });
  });
  return done(made);
}

async function findTargets(
  pool: pg.Pool,
  { id, projectId, endpointIds, status }: Webhook,
  named: string | undefined,
): Promise<ActionResult<Endpoint[]>> {
  const wanted = named === undefined ? endpointIds : [named];
  if (wanted.length === 0) {
    const sentence = `the webhook ${id} (${status}) owes no endpoint: name one of its project with --endpoint`;
    return refused('webhook.owes_nothing', sentence);
  }
  const targets: Endpoint[] = [];
  for (const endpointId of wanted) {
    const endpoint = await readEndpoint(pool, endpointId);
    if (!endpoint) return refused('endpoint.not_found', `there is no endpoint ${endpointId}`);
    if (endpoint.projectId !== projectId) {
      const sentence = `the endpoint ${endpointId} is of another project than the webhook, whose project is ${projectId}`;
      return refused('endpoint.other_project', sentence);
    }
    if (!endpoint.archivedAt) targets.push(endpoint);
    else if (named !== undefined || wanted.length === 1) {
      return refused('endpoint.archived', `the endpoint ${endpointId} is archived: nothing is sent to it`);
    }
  }
  return done(targets);
}

function whyWithoutPayload({ id, status, reason, duplicateOf }: Webhook): string {
  const because = reason === null ? '' : ` (${reason})`;
  switch (status) {
    case 'queued':
    case 'conflict':
      return `the webhook ${id} cannot be replayed: its payload was dropped (PAYLOAD_RETENTION_DAYS)`;
    case 'duplicate':
      return `${id} is a duplicate of the webhook ${duplicateOf}, which has the payload: replay that one`;
    case 'failed_to_queue':
      return `${id} was answered 503${because} and its payload was not kept: the provider sends it again`;
    case 'rate_limited':
    case 'rejected':
      return `${id} was ${status}${because}, and the payload of such a request is not kept`;
  }
}
