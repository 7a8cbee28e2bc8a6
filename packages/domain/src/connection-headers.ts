/** Headers that belong to one connection (RFC 9110, 7.6.1), or that the next request makes anew. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that `Connection` headers name, in lower case, from Node's `rawHeaders`. */
export function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== 'connection') continue;
    for (const option of rawHeaders[i + 1]!.split(',')) named.add(option.trim().toLowerCase());
  }
  return named;
}
