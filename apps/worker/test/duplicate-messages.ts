import { deliveryId, newId } from '@hqrelay/domain/ids';
import { decodeMessage, type DeliveryFields, type Envelope } from '@hqrelay/queue/messages';
import { freshId } from '@hqrelay/testing/fresh-id';
import { dispatch } from '../src/delivery/dispatch.ts';
import type { WorkerWorld } from './worker-world.ts';

/** A webhook with one endpoint, and its message. */
export async function seedWebhook(world: WorkerWorld, retry: string, envelope: Partial<Envelope> = {}) {
  const { projectId, endpoints } = await world.seed({ retry });
  const { id: endpointId, endpoint } = endpoints[0]!;
  const id = freshId();
  const ids = { id, endpointIds: [endpointId] };
  const fields = (changes: Partial<DeliveryFields>): DeliveryFields => ({
    deliveryId: deliveryId(id, endpointId),
    endpointId,
    attemptNum: 1,
    lane: 'live',
    notBefore: 0,
    ...changes,
  });
  return {
    id,
    projectId,
    endpointId,
    endpoint,
    content: world.message(projectId, { ...ids, ...envelope }),
    attempt: (changes: Partial<DeliveryFields>) =>
      world.message(projectId, { ...ids, delivery: fields(changes) }),
  };
}

function decodedEnvelope(content: Buffer) {
  const decoded = decodeMessage(content);
  if (decoded.kind !== 'message') throw new Error(decoded.reason);
  return decoded.message.envelope;
}

/** Another worker, whose clock is `behindMs` behind, records the first attempt. */
export async function recordElsewhere(
  world: WorkerWorld,
  content: Buffer,
  { behindMs = 0, nextAttemptAt = null }: { behindMs?: number; nextAttemptAt?: number | null } = {},
): Promise<void> {
  const { id, endpointIds, projectId } = decodedEnvelope(content);
  await world.deps.recorder.record({
    kind: 'attempt',
    attempt: {
      id: newId(Date.now() - behindMs),
      deliveryId: deliveryId(id, endpointIds[0]!),
      webhookLogId: id,
      projectId,
      endpointId: endpointIds[0]!,
      lane: 'live',
      attemptNum: 1,
      status: nextAttemptAt === null ? 'delivered' : 'failed',
      statusCode: nextAttemptAt === null ? 200 : 500,
      latencyMs: 100,
      error: null,
      responseBody: null,
      correlationId: 'test',
      nextAttemptAt,
    },
  });
}

/** Handles a message that the broker delivers for the first time. */
export function handle(world: WorkerWorld, content: Buffer) {
  return dispatch(world.deps, { content, redelivered: false, entrance: world.entrance, isLive: true });
}

/** The attempts of a webhook that the worker has published, and their exchanges. */
export function nextAttempts(world: WorkerWorld, id: string): [number, string][] {
  return world.publishedOf(id).map((each) => [each.attemptNum, each.exchange]);
}
