import type { Postgres } from '@hqrelay/db/postgres';
import { Batcher } from '@hqrelay/flow/batcher';
import type pg from 'pg';

const timeoutMs = 500;

/**
 * A query that requests share: those that arrive together share one statement, up to 200. With one statement for each, an
 * ordinary load would use up all connections. Undefined when Postgres is unavailable or late.
 */
export function batchedQuery<Item, Outcome>(
  postgres: Postgres,
  query: (pool: pg.Pool, items: readonly Item[]) => Promise<readonly Outcome[]>,
): (item: Item) => Promise<Outcome | undefined> {
  const batcher = new Batcher<Item, Outcome | undefined>({
    itemsMax: 200,
    bytesMax: Number.POSITIVE_INFINITY,
    batchesAtOnce: 2,
    bytesWaitingMax: Number.POSITIVE_INFINITY,
    bytesOf: () => 0,
    run: async (items) => {
      const ask = () => postgres.tryWithin(timeoutMs, (pool) => query(pool, items));
      // Postgres may refuse a valid statement once, as after a deadlock, so it is tried again.
      const answer = await ask().catch(ask);
      return answer?.value ?? items.map(() => undefined);
    },
  });
  return (item) => batcher.add(item);
}
