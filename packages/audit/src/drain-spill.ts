import type { Postgres } from '@hqrelay/db/postgres';
import type { BrokerConnection } from '@hqrelay/queue/connection';
import type { Publisher } from '@hqrelay/queue/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { parkRow, parkSpill } from './park-row.ts';
import { decodeSpill } from './spill-format.ts';
import { storeRows } from './store-rows.ts';

export type DrainSpillDeps = { postgres: Postgres; connection: BrokerConnection; publisher: Publisher };

/**
 * Writes spilled rows to Postgres until the queue is empty. A message is acknowledged after the commit, so a crash writes
 * it again, which changes nothing. Rows that Postgres refuses are parked, and so is what is no spill: it would stand before
 * the others for ever. Returns how many messages it took; throws when Postgres or the broker went away, and the rest stays
 * in the queue.
 */
export async function drainSpill(deps: DrainSpillDeps): Promise<number> {
  return deps.connection.pull(auditQueue, async (content) => {
    const spill = decodeSpill(content);
    if (spill.kind === 'unreadable') {
      if (await parkSpill(deps.publisher, content, spill.reason)) return;
      throw new Error('a message that cannot be read could not be parked');
    }
    for (const outcome of await storeRows(deps.postgres.pool, spill.rows)) {
      if (outcome.kind !== 'unstorable') continue;
      if (!(await parkRow(deps.publisher, outcome.row, outcome.reason))) {
        throw new Error('a row that Postgres refuses could not be parked');
      }
    }
  });
}
