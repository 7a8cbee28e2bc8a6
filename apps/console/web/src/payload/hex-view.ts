const perLine = 16;

/** `00000010  7b 22 61 22 …  {"a"…`: offset, bytes, and their printable ASCII. */
export function hexView(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += perLine) {
    const line = [...bytes.subarray(offset, offset + perLine)];
    const hex = line.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const ascii = line
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'))
      .join('');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex.padEnd(perLine * 3 - 1)}  ${ascii}`);
  }
  return lines.join('\n');
}
