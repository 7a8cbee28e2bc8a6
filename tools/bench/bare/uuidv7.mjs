/**
 * @param {number} now ms since epoch
 * @param {Uint8Array} random 10 bytes
 */
export function uuidv7(now, random) {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes.set(random, 6);
  bytes[6] = (Number(bytes[6]) & 0x0f) | 0x70;
  bytes[8] = (Number(bytes[8]) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
