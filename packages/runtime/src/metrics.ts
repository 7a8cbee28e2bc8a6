import { collectDefaultMetrics, Registry } from 'prom-client';

export type { Registry };

/** A registry with the metrics of the Node.js process, which are computed when scraped. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  return registry;
}
