import { hash, randomFillSync } from 'node:crypto';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const timeMaxMs = 2 ** 48 - 1;

const randomPartBytes = 10;
const pool = Buffer.alloc(randomPartBytes * 256);
let poolOffset = pool.length;

/** A UUIDv7 (RFC 9562) of a time in ms since the epoch and 10 random bytes. Throws RangeError. */
export function uuidv7(nowMs: number, randomBytes: Uint8Array): string {
  if (randomBytes.length !== randomPartBytes) {
    throw new RangeError(`a UUIDv7 needs ${randomPartBytes} random bytes, not ${randomBytes.length}`);
  }
  return formatUuidv7(nowMs, randomBytes, 0);
}

/** A new UUIDv7 whose time is exactly `nowMs`; ids of the same millisecond are in no order. */
export function newId(nowMs: number): string {
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  poolOffset += randomPartBytes;
  return formatUuidv7(nowMs, pool, poolOffset - randomPartBytes);
}

/** The ms since the epoch inside a UUIDv7. Throws RangeError for anything else. */
export function timeOfId(id: string): number {
  if (!uuidv7Pattern.test(id)) throw new RangeError('not a UUIDv7');
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Whether a text is a UUIDv7. */
export function isUuidv7(text: string): boolean {
  return uuidv7Pattern.test(text);
}

/** The lowest UUIDv7 of a time in ms since the epoch: ids of an earlier time are lower, those of this time and later are not. */
export function lowestIdAt(ms: number): string {
  return formatUuidv7(Math.max(0, ms), new Uint8Array(randomPartBytes), 0);
}

/** Whether a text is a UUID in its usual form, of any version and in any case. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/**
 * The id of a delivery, the same in every message of it: a UUIDv8 of the SHA-256 over the 16 bytes each of its webhook's id,
 * its endpoint's and, for a replay, the replay's. The `delivery_status` view computes the same. Throws RangeError for a
 * text that is not a UUID.
 */
export function deliveryId(webhookLogId: string, endpointId: string, replayId?: string): string {
  const ids = replayId === undefined ? [webhookLogId, endpointId] : [webhookLogId, endpointId, replayId];
  if (!ids.every(isUuid)) throw new RangeError('a delivery id is derived from UUIDs only');
  return idOfBytes(Buffer.from(ids.join('').replaceAll('-', ''), 'hex'));
}

/** The id of these bytes: the same bytes always have the same id. */
export function idOfBytes(bytes: Uint8Array): string {
  return formatUuid(hash('sha256', bytes), 8);
}

/** The id of one publication of a delivery: duplicates of it have the same id, so that the outbox holds one row. */
export function publicationId(deliveryId: string, attemptNum: number, exchange: string): string {
  return formatUuid(hash('sha256', `${deliveryId} ${attemptNum} ${exchange}`), 8);
}

const digits = Buffer.from('0123456789abcdef');
/** Where the two digits of each byte stand in the text of a UUID. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const timeBytes = 6;
/** The id that is being made: a text of many parts would cost several times as much, and its memory. */
const idText = Buffer.alloc(36, '-');

/** `random`: the bytes from `start` on. */
function formatUuidv7(nowMs: number, random: Uint8Array, start: number): string {
  if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > timeMaxMs) {
    throw new RangeError(`a UUIDv7 needs whole milliseconds since the epoch, not ${nowMs}`);
  }
  let time = nowMs;
  for (let index = timeBytes - 1; index >= 0; index -= 1) {
    writeByte(index, time % 256);
    time = Math.floor(time / 256);
  }
  for (let index = 0; index < randomPartBytes; index += 1)
    writeByte(timeBytes + index, random[start + index]!);
  writeByte(6, 0x70 | (random[start]! & 0x0f));
  writeByte(8, 0x80 | (random[start + 2]! & 0x3f));
  return idText.toString('latin1');
}

function writeByte(index: number, byte: number): void {
  const position = positions[index]!;
  idText[position] = digits[byte >> 4]!;
  idText[position + 1] = digits[byte & 15]!;
}

/** The first 128 bits of `hex`, with the version and the variant of RFC 9562 in their places. */
function formatUuid(hex: string, version: number): string {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
