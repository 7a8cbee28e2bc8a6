import { collectDefaultMetrics, Registry } from 'prom-client';

export type { Registry };

/** A registry of its own per process, with the Node.js process metrics, which cost something only when scraped. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  return registry;
}
