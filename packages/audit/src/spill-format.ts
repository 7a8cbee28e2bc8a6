import type { AuditRow, WebhookPayloadRow, WebhookRow } from '@hqrelay/db/queries/append-audit';

/**
 * `[length of the JSON, 32 bit big-endian][rows as JSON, each payload replaced by its length][the payloads]`. Rows with an
 * outbox message are never spilled: they exist because the broker was unavailable.
 */
export function encodeSpill(rows: readonly AuditRow[]): Buffer {
  const payloads: Buffer[] = [];
  const json = JSON.stringify({
    v: 1,
    rows: rows.map((row) => {
      if (row.kind === 'attempt') return row;
      // Postgres may get webhooks of the same keys that were accepted later before it gets these rows.
      const spilled = row.ordering ? { ...row, ordering: { ...row.ordering, isEarly: true } } : row;
      if (row.payload === null) return spilled;
      payloads.push(row.payload.payload);
      return { ...spilled, payload: { ...row.payload, payload: row.payload.payload.length } };
    }),
  });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(json));
  return Buffer.concat([length, Buffer.from(json), ...payloads]);
}

type SpilledRow =
  | Extract<AuditRow, { kind: 'attempt' }>
  | (Omit<WebhookRow, 'payload'> & {
      payload: null | (Omit<WebhookPayloadRow, 'payload'> & { payload: number });
    });

export type DecodedSpill = { kind: 'spill'; rows: AuditRow[] } | { kind: 'unreadable'; reason: string };

/** Never throws: bytes that `encodeSpill` did not write give `unreadable` with the reason. */
export function decodeSpill(content: Buffer): DecodedSpill {
  try {
    return { kind: 'spill', rows: readSpill(content) };
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

function readSpill(content: Buffer): AuditRow[] {
  const jsonEnd = 4 + content.readUInt32BE(0);
  const { v, rows } = JSON.parse(content.toString('utf8', 4, jsonEnd)) as { v: number; rows: SpilledRow[] };
  if (v !== 1) throw new Error(`spilled rows of version ${v}`);
  let offset = jsonEnd;
  return rows.map((row) => {
    if (row.kind === 'attempt') return row;
    if (row.payload === null) return { ...row, payload: null };
    const payload = content.subarray(offset, offset + row.payload.payload);
    offset += row.payload.payload;
    return { ...row, payload: { ...row.payload, payload } };
  });
}
