/** Headers that curl makes itself, or that belong to one connection. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

type Request = {
  url: string;
  headers: readonly (readonly [string, string])[];
  /** Undefined where the body is no text, or too long for a command line: it is read from `bodyFile`. */
  body: string | undefined;
  bodyFile: string;
};

/** A request as a command for a POSIX shell. */
export function curlCommand({ url, headers, body, bodyFile }: Request): string {
  const sent = headers.filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  const hasType = sent.some(([name]) => name.toLowerCase() === 'content-type');
  // Without it, curl would call any body a form. `Name;` is a header without a value.
  const lines = sent.map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`));
  if (!hasType) lines.push('Content-Type:');
  const isText = body !== undefined && !body.includes('\0');
  return [
    `curl -X POST ${shellQuote(url)}`,
    ...lines.map((line) => `-H ${shellQuote(line)}`),
    isText ? `--data-raw ${shellQuote(body)}` : `--data-binary ${shellQuote(`@${bodyFile}`)}`,
  ].join(' \\\n  ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
