import { z } from 'zod';

const parked = z.object({
  v: z.literal(1),
  /** `delivery`: its schedule is used up. `message`: workers cannot decode it. `audit_row`: Postgres refused it. */
  kind: z.enum(['delivery', 'message', 'audit_row']),
  reason: z.string(),
});

export type Parked = z.infer<typeof parked>;

const magic = Buffer.from('HQRD');

/** `HQRD[length of the JSON, 32 bit big-endian][the reason, JSON][the message's bytes]`: the format of `hqrelay.dead-letter`. */
export function encodeParked(why: Parked, content: Buffer): Buffer {
  const json = Buffer.from(JSON.stringify(why));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([magic, length, json, content]);
}

/** Null for a message that the broker dead-lettered itself, at its delivery limit: its bytes are an ordinary message. */
export function decodeParked(content: Buffer): { why: Parked; content: Buffer } | null {
  if (content.length < 8 || !content.subarray(0, 4).equals(magic)) return null;
  const end = 8 + content.readUInt32BE(4);
  if (end > content.length) return null;
  try {
    const why = parked.safeParse(JSON.parse(content.toString('utf8', 8, end)));
    return why.success ? { why: why.data, content: content.subarray(end) } : null;
  } catch {
    return null;
  }
}
