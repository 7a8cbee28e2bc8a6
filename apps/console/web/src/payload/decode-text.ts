/** Text of UTF-8 bytes, or undefined where they are something else. A head may end inside of a character. */
export function decodeText(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    // A byte order mark is a part of the body.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}
