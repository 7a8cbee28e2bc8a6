import type { Cache } from '@hqrelay/cache/client';
import { removeMarks } from '@hqrelay/cache/ordering/order-marks';
import type { Postgres } from '@hqrelay/db/postgres';
import { hasUnsequenced, sequenceKeys } from '@hqrelay/db/queries/unsequenced';
import { releaseFirstOfKeys } from '@hqrelay/db/queries/waiting-turns';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { publishTo } from '../wiring/turns.ts';

export type SequenceWebhooksDeps = {
  postgres: Postgres;
  cache: Cache;
  connection: Pick<BrokerConnection, 'health' | 'queueDepths'>;
  publisher: Publisher;
  now: () => number;
};

/**
 * How long the queue of spilled rows must have been empty. A worker that took a message from it has committed its rows by then, or
 * has requeued it: a statement takes 6 s at most.
 */
const emptyForMs = 8_000;
/** Observations further apart than this say nothing about the time between them. */
const observedEveryMs = 5_000;
const batch = { keysMax: 500, deliveriesPerKeyMax: 5_000 };
const batchesMax = 20;

/**
 * Gives ordered webhooks that were accepted while Postgres was down, and those behind them, their sequences, when all of them are
 * in Postgres: none is left in the queue of spilled rows. Each run returns how many keys it sequenced.
 */
export function createSequenceWebhooks(
  deps: SequenceWebhooksDeps,
): (stopping?: AbortSignal) => Promise<number> {
  const { postgres, cache, connection, publisher, now } = deps;
  let emptySince: number | undefined;
  let observedAt = 0;
  return async (stopping) => {
    if (!postgres.health.isUp || !connection.health.isUp || !(await hasUnsequenced(postgres.pool))) {
      emptySince = undefined;
      return 0;
    }
    const at = now();
    const depth = (await connection.queueDepths([auditQueue])).get(auditQueue) ?? 0;
    if (depth > 0 || at - observedAt > observedEveryMs) emptySince = undefined;
    observedAt = at;
    if (depth === 0) emptySince ??= at;
    if (emptySince === undefined || at - emptySince < emptyForMs) return 0;

    let total = 0;
    for (let batches = 0; batches < batchesMax && !stopping?.aborted; batches += 1) {
      const keys = await sequenceKeys(postgres.pool, batch);
      if (keys.length === 0) break;
      total += keys.length;
      await releaseFirstOfKeys(postgres.pool, keys, publishTo(publisher));
      const projectIds = [...new Set(keys.map(({ projectId }) => projectId))];
      await cache.tryCommand((redis) => removeMarks(redis, projectIds, emptyForMs));
    }
    return total;
  };
}
