import type { Postgres } from '@hqrelay/db/postgres';
import { countOpenDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { countHeld, holdReasons } from '@hqrelay/db/queries/held-deliveries';
import { countOutbox } from '@hqrelay/db/queries/outbox';
import { measureOrder } from '@hqrelay/db/queries/waiting-turns';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { backlogOf } from '@hqrelay/queue/queue-backlog';
import { allQueues, deadLetterQueue, largeQueueOf, workQueues } from '@hqrelay/queue/topology';
import { gaugeWhenMeasured, type Registry } from '@hqrelay/runtime/metrics';
import { Gauge } from 'prom-client';
import { createMeasureQueueAges, type MeasureQueueAgesDeps } from './queue-ages.ts';

/** Gauges of the backlog in the stores: every worker reports the same values. */
export function createBacklogGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const measured = (name: string, help: string) => gaugeWhenMeasured(registry, name, help);
  return {
    queueDepth: gauge('hqrelay_queue_depth', 'Messages ready in a queue', ['queue']),
    oldestAge: gauge(
      'hqrelay_queue_oldest_age_seconds',
      'Age of the oldest message that is ready in a work queue; 0 when it is empty',
      ['queue'],
    ),
    held: gauge('hqrelay_held_deliveries', 'Deliveries that wait in Postgres', ['reason']),
    orderedKeysHeld: measured(
      'hqrelay_ordered_keys_held',
      'Keys of ordered endpoints with deliveries that wait for an earlier one of the key',
    ),
    orderedKeyOldestAge: measured(
      'hqrelay_ordered_key_oldest_age_seconds',
      'Age of the oldest webhook that waits for an earlier one of its key; 0 when none does',
    ),
    outboxDepth: measured('hqrelay_outbox_depth', 'Messages that wait in Postgres for the broker'),
    projectsNearLimit: measured(
      'hqrelay_projects_near_limit',
      'Projects that used 80 % of their rate limit in the last minute',
    ),
    silentProjects: measured(
      'hqrelay_silent_projects',
      'Projects without a webhook since an hour of the last day in which at least ten were expected',
    ),
    alertChannelsBroken: measured(
      'hqrelay_alert_channels_broken',
      'Alert rules whose last three tries to send have failed',
    ),
    deadLetters: measured(
      'hqrelay_dead_letters',
      'Dead letters that were not replayed, in the table and in the queue; one that moves between them while they are counted may count twice',
    ),
  };
}

export type MeasureBacklogDeps = {
  postgres: Postgres;
  connection: BrokerConnection;
  gauges: ReturnType<typeof createBacklogGauges>;
};

export function createMeasureBacklog(deps: MeasureBacklogDeps & MeasureQueueAgesDeps): () => Promise<void> {
  const { connection, gauges, now } = deps;
  const measureQueueAges = createMeasureQueueAges(deps);
  return async () => {
    const askedAt = now();
    const depths = connection.health.isUp ? await connection.queueDepths(allQueues) : undefined;
    if (depths) for (const [queue, depth] of backlogOf(depths)) gauges.queueDepth.set({ queue }, depth);
    const ages = await measureQueueAges(depths, askedAt);
    for (const queue of workQueues) {
      const ageMs = Math.max(ages.get(queue) ?? 0, ages.get(largeQueueOf(queue)) ?? 0);
      gauges.oldestAge.set({ queue }, ageMs / 1_000);
    }
    await measureTables(deps, depths, askedAt);
  };
}

async function measureTables(
  { postgres, gauges }: MeasureBacklogDeps,
  depths: ReadonlyMap<string, number> | undefined,
  askedAt: number,
): Promise<void> {
  if (!postgres.health.isUp) return;
  const held = await countHeld(postgres.pool);
  for (const reason of holdReasons) gauges.held.set({ reason }, held.get(reason) ?? 0);
  const { keysHeld, oldestAt } = await measureOrder(postgres.pool);
  gauges.orderedKeysHeld.set(keysHeld);
  const oldestAgeMs = oldestAt === null ? 0 : askedAt - oldestAt;
  gauges.orderedKeyOldestAge.set(Math.max(0, oldestAgeMs) / 1_000);
  gauges.outboxDepth.set(await countOutbox(postgres.pool));
  // Dead letters move from the queue to the table: while one count is missing, the gauge keeps the last sum.
  if (!depths) return;
  gauges.deadLetters.set((depths.get(deadLetterQueue) ?? 0) + (await countOpenDeadLetters(postgres.pool)));
}
