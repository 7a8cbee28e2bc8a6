import { Consumer } from '@hqrelay/queue/consumer';
import { Gauge } from 'prom-client';
import { dispatch, type DispatchDeps } from '../delivery/dispatch.ts';
import type { Lane } from '../intake/lanes.ts';
import type { Part } from './part.ts';
import type { Stores } from './stores.ts';
import type { WorkerOptions } from './worker-options.ts';

/** A consumer for each lane. */
export function createConsumers(
  lanes: readonly Lane[],
  { logger, registry }: WorkerOptions,
  { consuming }: Stores,
  deps: DispatchDeps,
): readonly Consumer[] {
  const consumers = lanes.map(({ isLive, queue, prefetch, prefetchMore, messageBytesMax }) => {
    const entrance = deps.gate.entrance(queue);
    return new Consumer({
      queue,
      prefetch,
      prefetchMore,
      messageBytesMax,
      connection: consuming,
      handle: ({ content, redelivered }) => dispatch(deps, { content, redelivered, entrance, isLive }),
      onError: (error) => logger.error({ err: error, queue }, 'delivery.failed_here'),
    });
  });
  new Gauge({
    name: 'hqrelay_deliveries_in_flight',
    help: 'Messages this worker is working on',
    registers: [registry],
    collect() {
      this.set(consumers.reduce((sum, { inFlight }) => sum + inFlight, 0));
    },
  });
  return consumers;
}

/** Starts consuming; stops it and waits for the deliveries in flight. */
export function intakePart(
  { consuming }: Stores,
  { liveFirst, gate, sender }: DispatchDeps,
  consumers: readonly Consumer[],
): Part {
  const drain = (deadlineMs: number) => Promise.all(consumers.map((each) => each.drain(deadlineMs)));
  return {
    name: 'intake',
    start: () => consuming.start(),
    stop: async () => {
      liveFirst.stop();
      gate.stop();
      await drain(30_000);
      // Requests that have not ended by now are aborted, and their messages are requeued.
      sender.abort();
      await drain(3_000);
      // Messages that were never begun are requeued last, in their order.
      await consuming.stop();
      await sender.close();
    },
  };
}
