import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { encodeParked } from '@hqrelay/queue/parked';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { deadLetterQueue } from '@hqrelay/queue/topology';
import { encodeSpill } from './spill-format.ts';

/** Publishes a row that Postgres refuses to the dead-letter queue, with the reason. False when the broker did not confirm. */
export function parkRow(publisher: Publisher, row: AuditRow, reason: string): Promise<boolean> {
  return parkSpill(publisher, encodeSpill([row]), reason);
}

/** Does the same for the bytes of a spill. */
export async function parkSpill(publisher: Publisher, spill: Buffer, reason: string): Promise<boolean> {
  const body = encodeParked({ v: 1, kind: 'audit_row', reason }, spill);
  const result = await publisher.publish({ exchange: '', routingKey: deadLetterQueue, body });
  return result.kind === 'confirmed';
}
