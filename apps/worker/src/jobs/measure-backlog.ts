import type { Postgres } from '@hqrelay/db/postgres';
import { countOpenDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { countHeld } from '@hqrelay/db/queries/held-deliveries';
import { countOutbox } from '@hqrelay/db/queries/outbox';
import { delayLadder } from '@hqrelay/domain/delivery/retry-schedule';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { auditQueue, deadLetterQueue, delayName, largeQueueOf, workQueues } from '@hqrelay/queue/topology';
import type { Registry } from '@hqrelay/runtime/metrics';
import { Gauge } from 'prom-client';

const queues = [
  ...workQueues,
  ...delayLadder.map(({ name }) => delayName(name)),
  deadLetterQueue,
  auditQueue,
];
const largeQueues = workQueues.map(largeQueueOf);
const holdReasons = ['delay', 'paused', 'disabled', 'order', 'breaker'] as const;

/** Gauges of the backlog in the stores: every worker reports the same values. */
export function createBacklogGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  return {
    queueDepth: gauge('hqrelay_queue_depth', 'Messages ready in a queue', ['queue']),
    held: gauge('hqrelay_held_deliveries', 'Deliveries that wait in Postgres', ['reason']),
    outboxDepth: gauge('hqrelay_outbox_depth', 'Messages that wait in Postgres for the broker'),
    deadLetters: gauge(
      'hqrelay_dead_letters',
      'Dead letters that were not replayed, in the table and in the queue',
    ),
  };
}

export type MeasureBacklogDeps = {
  postgres: Postgres;
  connection: BrokerConnection;
  gauges: ReturnType<typeof createBacklogGauges>;
};

export async function measureBacklog({ postgres, connection, gauges }: MeasureBacklogDeps): Promise<void> {
  const depths = connection.health.isUp
    ? await connection.queueDepths([...queues, ...largeQueues])
    : undefined;
  if (depths) for (const queue of queues) gauges.queueDepth.set({ queue }, depthOf(depths, queue));
  if (!postgres.health.isUp) return;
  const held = await countHeld(postgres.pool);
  for (const reason of holdReasons) gauges.held.set({ reason }, held.get(reason) ?? 0);
  gauges.outboxDepth.set(await countOutbox(postgres.pool));
  // Dead letters move from the queue to the table: while one count is missing, the gauge keeps the last sum.
  if (!depths) return;
  gauges.deadLetters.set((depths.get(deadLetterQueue) ?? 0) + (await countOpenDeadLetters(postgres.pool)));
}

/** A work queue counts together with its sibling for large messages. */
function depthOf(depths: ReadonlyMap<string, number>, queue: string): number {
  return (depths.get(queue) ?? 0) + (depths.get(`${queue}.large`) ?? 0);
}
