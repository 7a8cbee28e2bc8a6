import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type { Registry };

/** A registry with the metrics of the Node.js process, which are computed when scraped. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  return registry;
}

/** A gauge that has no sample until it is set. prom-client's own starts at 0, which a dashboard takes for a measurement. */
export function gaugeWhenMeasured(registry: Registry, name: string, help: string): Gauge {
  const gauge = new Gauge({ name, help, registers: [registry] });
  gauge.remove();
  return gauge;
}
