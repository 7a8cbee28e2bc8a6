import type { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { BrokerConnection } from '@hqrelay/queue/connection';
import type { Publisher } from '@hqrelay/queue/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { parkRow, parkSpill } from './park-row.ts';
import { decodeSpill } from './spill-format.ts';
import { storeRows } from './store-rows.ts';

export type DrainSpillDeps = { postgres: Postgres; connection: BrokerConnection; publisher: Publisher };

const limits = { messagesMax: 200, bytesMax: 1 << 20 };

/**
 * Writes spilled rows to Postgres until the queue is empty or `stopping` is aborted, those of many messages in one commit: an outage leaves
 * thousands of small ones. A message is acknowledged after the commit, so a crash writes it again, which changes nothing.
 * Rows that Postgres refuses are parked, and so is what is no spill: it would stand before the others for ever; a message
 * that could not be parked stays in the queue. Returns how many messages it took; throws when Postgres or the broker went
 * away, and the rest stays in the queue.
 */
export async function drainSpill(deps: DrainSpillDeps, stopping?: AbortSignal): Promise<number> {
  return deps.connection.pullBatches(auditQueue, { ...limits, stopping }, async (contents) => {
    const spills = contents.map(decodeSpill);
    const rows = spills.flatMap((spill) => (spill.kind === 'spill' ? spill.rows : []));
    const notTaken = await storeOrPark(deps, rows);
    return Promise.all(
      spills.map(async (spill, index) =>
        spill.kind === 'spill'
          ? !spill.rows.some((row) => notTaken.has(row))
          : parkSpill(deps.publisher, contents[index]!, spill.reason),
      ),
    );
  });
}

/** Returns the rows that neither Postgres nor the broker took. */
async function storeOrPark(
  { postgres, publisher }: DrainSpillDeps,
  rows: readonly AuditRow[],
): Promise<ReadonlySet<AuditRow>> {
  const notTaken = new Set<AuditRow>();
  if (rows.length === 0) return notTaken;
  for (const outcome of await storeRows(postgres.pool, rows)) {
    if (outcome.kind !== 'unstorable') continue;
    if (!(await parkRow(publisher, outcome.row, outcome.reason))) notTaken.add(outcome.row);
  }
  return notTaken;
}
