import { Gauge } from 'prom-client';
import { EndpointGate } from '../endpoint/endpoint-gate.ts';
import type { Lane } from '../intake/lanes.ts';
import type { Fleet } from '../jobs/count-workers.ts';
import type { Stores } from './stores.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The gate of all endpoints, with its log events and its gauge. */
export function createGate(
  { postgres }: Stores,
  { logger, registry, now }: WorkerOptions,
  { fleet, lanes }: { fleet: Fleet; lanes: readonly Lane[] },
): EndpointGate {
  const gate = new EndpointGate({
    postgres,
    now,
    workers: () => fleet.size,
    slots: Object.fromEntries(lanes.map(({ queue, slots }) => [queue, slots])),
    onChange: (endpointId, state) => logger.warn({ endpointId, state }, 'endpoint.breaker'),
    onError: (error) => logger.error({ err: error }, 'breaker.not_stored'),
  });
  new Gauge({
    name: 'hqrelay_breakers_open',
    help: 'Endpoints whose breaker is open: one delivery at a time probes them',
    registers: [registry],
    collect() {
      this.set(gate.breakers.openCount);
    },
  });
  return gate;
}
