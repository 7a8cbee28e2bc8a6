import type { Postgres } from '@hqrelay/db/postgres';
import { endTurns } from '@hqrelay/db/queries/ordered-turns';
import {
  readKeys,
  releaseFirstOfKeys,
  type KeysPage,
  type OrderingKey,
} from '@hqrelay/db/queries/waiting-turns';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { publishTo } from '../wiring/turns.ts';

export type EndTurnsDeps = { postgres: Postgres; publisher: Publisher };

const keysPerPage = 2_000;
const pagesPerRun = 20;

/**
 * Ends turns that a worker left open when it crashed, or could not end while Postgres was down, and releases the next delivery of
 * each key. A run looks at the next keys after those of the run before, never at the deliveries that wait behind the first.
 * Each run returns how many turns it ended.
 */
export function createEndTurns(deps: EndTurnsDeps): (stopping?: AbortSignal) => Promise<number> {
  const { postgres, publisher } = deps;
  let after: OrderingKey | undefined;
  return async (stopping) => {
    let total = 0;
    for (let pages = 0; pages < pagesPerRun && !stopping?.aborted; pages += 1) {
      if (!postgres.health.isUp || !publisher.health.isUp) break;
      const { keys, ended } = await readKeys(postgres.pool, after, keysPerPage);
      after = keys.length === keysPerPage ? keys.at(-1) : undefined;
      total += ended.length;
      await endAndRelease(deps, keys, ended);
      if (!after) break;
    }
    return total;
  };
}

async function endAndRelease(
  { postgres, publisher }: EndTurnsDeps,
  keys: KeysPage['keys'],
  ended: KeysPage['ended'],
) {
  const deliveryIds = ended.map(({ deliveryId }) => deliveryId);
  if (deliveryIds.length > 0) await endTurns(postgres.pool, deliveryIds);
  if (keys.length > 0) await releaseFirstOfKeys(postgres.pool, keys, publishTo(publisher));
}
