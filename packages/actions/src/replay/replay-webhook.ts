import { inTransaction } from '@hqrelay/db/in-transaction';
import { readErasure } from '@hqrelay/db/queries/erase-webhook';
import { readEndpoint, type Endpoint } from '@hqrelay/db/queries/endpoints';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { finishReplayJob, insertReplayJob } from '@hqrelay/db/queries/replay-jobs';
import {
  insertReplays,
  markDeadLettersReplayed,
  newReplay,
  readRecordedWebhooks,
  type Replay,
} from '@hqrelay/db/queries/replays';
import { readWebhook, type Webhook } from '@hqrelay/db/queries/webhooks';
import { newId, timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { encodeReplay } from './encode-replay.ts';

export type ReplayTo = { endpoint: Endpoint; replay: Replay };

export type ReplayedTo = {
  replays: ReplayTo[];
  /** The job of which the replays are, where there are several. */
  jobId: string | null;
};

/** Delivers one webhook again, at once: to the endpoints that it owes, or to those of its project that are named. */
export async function replayWebhook(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  input: {
    webhookLogId: string;
    endpointIds?: readonly string[] | undefined;
    requestedBy: string;
    now: number;
  },
): Promise<ActionResult<ReplayedTo>> {
  const { webhookLogId: id, requestedBy, now } = input;
  const webhook = await readWebhook(pool, { id, receivedAt: timeOfId(id) });
  if (!webhook) {
    return refused('webhook.not_found', `there is no webhook ${id}; its row can be a moment late`);
  }
  const recorded = (await readRecordedWebhooks(pool, [id])).get(id);
  if (!recorded) return refused('webhook.not_replayable', await whyWithoutPayload(pool, webhook));
  const targets = await findTargets(pool, webhook, input.endpointIds);
  if (targets.kind === 'refused') return targets;
  await ensurePartition(pool, now);
  const made = targets.value.map((endpoint) => ({ endpoint, replay: newReplay(id, endpoint.id, now, now) }));
  const replays = made.map(({ replay }) => replay);
  const jobId = await inTransaction(pool, async (client) => {
    const job = replays.length > 1 ? await insertJob(client, webhook, replays, requestedBy, now) : null;
    const messages = replays.map((replay) => ({ replay, message: encodeReplay(recorded, replay) }));
    await insertReplays(client, messages, { requestedBy, jobId: job, now });
    await markDeadLettersReplayed(client, replays, now);
    await recordChange(client, actor, {
      action: 'webhook.replay',
      projectId: webhook.projectId,
      target: id,
      before: null,
      after: {
        requestedBy,
        ...(job !== null && { jobId: job }),
        replays: replays.map(({ replayId, endpointId }) => ({ replayId, endpointId })),
      },
    });
    return job;
  });
  return done({ replays: made, jobId });
}

/** Several replays are a job like any other. It is finished at once, so that no worker runs it. Returns its id. */
async function insertJob(
  client: pg.PoolClient,
  { id: webhookLogId, projectId }: Webhook,
  replays: readonly Replay[],
  requestedBy: string,
  now: number,
): Promise<string> {
  const endpointIds = replays.map(({ endpointId }) => endpointId);
  const count = replays.length;
  const selection = { kind: 'webhook', webhookLogId, endpointIds } as const;
  const facts = { projectId, selection, ratePerSecond: count, requestedBy, count, countCapped: false };
  const job = await insertReplayJob(client, { id: newId(now), ...facts }, now);
  await finishReplayJob(client, job);
  return job.id;
}

async function findTargets(
  pool: pg.Pool,
  { id, projectId, endpointIds, status }: Webhook,
  named: readonly string[] | undefined,
): Promise<ActionResult<Endpoint[]>> {
  const wanted = [...new Set(named ?? endpointIds)];
  if (wanted.length === 0) {
    const sentence = `the webhook ${id} (${status}) owes no endpoint: name one of its project`;
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

async function whyWithoutPayload(pool: pg.Pool, webhook: Webhook): Promise<string> {
  const { id, status, reason, duplicateOf } = webhook;
  const erasure = await readErasure(pool, id);
  if (erasure) {
    return `the webhook ${id} cannot be replayed: its payload was erased at ${erasure.erasedAt.toISOString()} by ${erasure.actor}`;
  }
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
