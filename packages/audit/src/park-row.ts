import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { encodeParked } from '@hqrelay/queue/parked';
import type { Publisher } from '@hqrelay/queue/publisher';
import { deadLetterQueue } from '@hqrelay/queue/topology';
import { encodeSpill } from './spill-format.ts';

/** Puts a row that Postgres refuses where an operator finds it, with the reason. False when the broker did not take it. */
export function parkRow(publisher: Publisher, row: AuditRow, reason: string): Promise<boolean> {
  return parkSpill(publisher, encodeSpill([row]), reason);
}

/** The same for spilled rows as they are. */
export async function parkSpill(publisher: Publisher, spill: Buffer, reason: string): Promise<boolean> {
  const body = encodeParked({ v: 1, kind: 'audit_row', reason }, spill);
  const result = await publisher.publish({ exchange: '', routingKey: deadLetterQueue, body });
  return result.kind === 'confirmed';
}
