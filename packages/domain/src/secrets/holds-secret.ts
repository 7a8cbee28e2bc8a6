/** Shorter secrets may be words, such as `json`; they are found only where nothing stands beside them. */
const lengthMin = 8;

/** Whether a header value, as Node reads it (Latin-1), contains one of the keys: as it is, in base64 or percent-encoded. */
export function holdsSecret(value: string, keys: readonly string[]): boolean {
  return keys.some((key) => {
    if (key === '') return false;
    const wire = Buffer.from(key).toString('latin1');
    if (key.length < lengthMin) return value === wire;
    const encoded = Buffer.from(key).toString('base64').replace(/=+$/, '');
    return value.includes(wire) || value.includes(encoded) || value.includes(encodeURIComponent(key));
  });
}
