import type { DurableServices } from '../harness/durable-services.ts';
import { cpuMicroseconds } from '../harness/process-cost.ts';

/** Counts CPU from now on. The returned function gives the µs of each process for one webhook. */
export function startCost(
  services: DurableServices,
  apps: Record<string, number>,
): (webhooks: number) => Record<string, number> {
  const pids = {
    ...apps,
    RabbitMQ: services.server('rabbitmq').pid(),
    Redis: services.server('redis').pid(),
    Postgres: services.server('postgres').pid(),
  };
  const before = cpuMicroseconds(pids);
  return (webhooks) => {
    const after = cpuMicroseconds(pids);
    const costs = Object.keys(pids).map(
      (name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / webhooks] as const,
    );
    return Object.fromEntries([...costs, ['all', costs.reduce((sum, [, cost]) => sum + cost, 0)]]);
  };
}
