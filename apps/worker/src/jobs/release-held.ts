import type { Postgres } from '@hqrelay/db/postgres';
import {
  listHoldingEndpoints,
  releaseOfEndpoint,
  type HoldingEndpoint,
} from '@hqrelay/db/queries/endpoint-releases';
import { releaseDue, type PublishHeld } from '@hqrelay/db/queries/held-deliveries';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { largeQueueOf, sizedRoutingKey, workExchange, type WorkQueue } from '@hqrelay/queue/topology';
import type { EndpointGate } from '../endpoint/endpoint-gate.ts';

export type ReleaseHeldDeps = {
  postgres: Postgres;
  publisher: Publisher;
  gate: EndpointGate;
  now: () => number;
};

const batch = 200;
const batchesMax = 10;
/** Deliveries of one endpoint in one run. */
const perEndpointMax = 1_000;
/** Of all workers: another worker reads the room only after the released deliveries have reached most of the others. */
const roomEveryMs = 400;
/** A delivery that probes an endpoint may wait in a queue first. */
const probeEveryMs = 5_000;

/**
 * Publishes held deliveries that are due, or whose endpoint is enabled, not paused and has room for them. Returns how many.
 * Throws, after the other endpoints have had their turn, when the deliveries of an endpoint cannot be released.
 */
export async function releaseHeld(deps: ReleaseHeldDeps): Promise<number> {
  const isOpen = () => deps.postgres.health.isUp && deps.publisher.mayPublishTo('hqrelay.retries');
  let total = 0;
  for (let batches = 0; batches < batchesMax && isOpen(); batches += 1) {
    const due = { now: deps.now(), limit: batch };
    const released = await releaseDue(deps.postgres.pool, due, publishTo(deps.publisher));
    total += released;
    if (released === 0) break;
  }
  if (!isOpen()) return total;
  const errors: unknown[] = [];
  for (const endpoint of await listHoldingEndpoints(deps.postgres.pool)) {
    if (!isOpen()) break;
    try {
      total += await releaseIntoRoom(deps, endpoint);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'held deliveries were not released');
  return total;
}

/** Releases as many deliveries as the endpoint has room for, or one that probes it. */
async function releaseIntoRoom(deps: ReleaseHeldDeps, endpoint: HoldingEndpoint): Promise<number> {
  const { endpointId } = endpoint;
  const room = deps.gate.room(endpointId);
  if (room.kind === 'none') return 0;
  const publish = publishTo(deps.publisher);
  const deliveriesInto = room.kind === 'probe' ? () => 1 : room.deliveriesInto;
  const release = {
    ...endpoint,
    now: deps.now(),
    isProbe: room.kind === 'probe',
    laneOf: (queue: string, bytes: number) => sizedRoutingKey(laneOf(queue), bytes),
    breakerRoom: Object.fromEntries(lanesOfReleased.map((lane) => [lane, deliveriesInto(lane)])),
    breakerEveryMs: room.kind === 'probe' ? probeEveryMs : roomEveryMs,
    limit: perEndpointMax,
  };
  return releaseOfEndpoint(deps.postgres.pool, release, (held) => {
    deps.gate.expect(endpointId, sizedRoutingKey(laneOf(held.queue), held.message.length));
    return publish(held);
  });
}

/** First attempts that were held join the retries, so that new webhooks go first. */
const laneOf = (queue: string): WorkQueue => (queue === 'hqrelay.replays' ? queue : 'hqrelay.retries');

const lanesOfReleased = (['hqrelay.retries', 'hqrelay.replays'] as const).flatMap((queue) => [
  queue,
  largeQueueOf(queue),
]);

function publishTo(publisher: Publisher): PublishHeld {
  return async ({ queue, message }) => {
    const result = await publisher.publish({
      exchange: workExchange,
      routingKey: laneOf(queue),
      body: message,
    });
    return result.kind === 'confirmed';
  };
}
