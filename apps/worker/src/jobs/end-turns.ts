import type { Postgres } from '@hqrelay/db/postgres';
import { endTurns } from '@hqrelay/db/queries/ordered-turns';
import { readKeys, releaseFirstOfKeys, type OrderingKey } from '@hqrelay/db/queries/waiting-turns';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { publishTo } from '../wiring/turns.ts';

export type EndTurnsDeps = { postgres: Postgres; publisher: Publisher };

const keysPerRun = 2_000;

/**
 * Ends turns that a worker left open when it crashed, or could not end while Postgres was down, and releases the next delivery of
 * each key. A run looks at the next keys after those of the run before, never at the deliveries that wait behind the first.
 * Each run returns how many turns it ended.
 */
export function createEndTurns({ postgres, publisher }: EndTurnsDeps): () => Promise<number> {
  let after: OrderingKey | undefined;
  return async () => {
    if (!postgres.health.isUp || !publisher.health.isUp) return 0;
    const { keys, ended } = await readKeys(postgres.pool, after, keysPerRun);
    after = keys.length === keysPerRun ? keys.at(-1) : undefined;
    if (ended.length > 0)
      await endTurns(
        postgres.pool,
        ended.map(({ deliveryId }) => deliveryId),
      );
    if (keys.length > 0) await releaseFirstOfKeys(postgres.pool, keys, publishTo(publisher));
    return ended.length;
  };
}
