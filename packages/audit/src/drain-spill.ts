import type { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { parkRow, parkSpill } from './park-row.ts';
import { decodeSpill } from './spill-format.ts';
import { storeRows } from './store-rows.ts';

export type DrainSpillDeps = { postgres: Postgres; connection: BrokerConnection; publisher: Publisher };

const limits = { messagesMax: 200, bytesMax: 1 << 20 };

/**
 * Writes spilled rows to Postgres until the queue is empty or `stopping` is aborted. The rows of many messages share one
 * commit, because an outage leaves thousands of small messages. A message is acknowledged after the commit, so after a crash
 * its rows are written again, which changes nothing. Rows that Postgres refuses, and messages that are no spill, are parked;
 * one that cannot be parked stays in the queue. Returns the number of messages taken. Throws when a store becomes
 * unavailable; the remaining messages stay in the queue.
 */
export async function drainSpill(deps: DrainSpillDeps, stopping?: AbortSignal): Promise<number> {
  return deps.connection.pullBatches(auditQueue, { ...limits, stopping }, async (contents) => {
    const spills = contents.map(decodeSpill);
    const rows = spills.flatMap((spill) => (spill.kind === 'spill' ? spill.rows : []));
    const notStored = await storeOrPark(deps, rows);
    return Promise.all(
      spills.map(async (spill, index) =>
        spill.kind === 'spill'
          ? !spill.rows.some((row) => notStored.has(row))
          : parkSpill(deps.publisher, contents[index]!, spill.reason),
      ),
    );
  });
}

/** Returns the rows that neither store took. */
async function storeOrPark(
  { postgres, publisher }: DrainSpillDeps,
  rows: readonly AuditRow[],
): Promise<ReadonlySet<AuditRow>> {
  const notStored = new Set<AuditRow>();
  if (rows.length === 0) return notStored;
  for (const outcome of await storeRows(postgres.pool, rows)) {
    if (outcome.kind !== 'unstorable') continue;
    if (!(await parkRow(publisher, outcome.row, outcome.reason))) notStored.add(outcome.row);
  }
  return notStored;
}
