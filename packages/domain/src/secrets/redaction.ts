const secretFields: readonly string[] = [
  'authorization',
  'cookie',
  'password',
  'plaintext',
  'sealed',
  'sealedHeaders',
  'secret',
  'secrets',
  'secretsKey',
  'signingSecret',
  'signingSecrets',
  'token',
  // Whole, because any header of a provider or an endpoint may be a credential.
  'headers',
  'fixedHeaders',
  'providerHeaders',
  'rawHeaders',
];

const parents: readonly string[] = [
  'config',
  'delivery',
  'endpoint',
  'message',
  'project',
  'request',
  'req',
  'response',
  'res',
  'webhook',
];

/**
 * The paths of secrets and credentials in a log line, for pino: its fields, and those of the objects it may contain.
 * Without wildcards: each costs more than a microsecond a line, a plain path almost nothing.
 */
export const redactPaths: readonly string[] = [
  ...secretFields,
  ...parents.flatMap((parent) => secretFields.map((field) => `${parent}.${field}`)),
];

const mask = '***';
const secretParameter = /pass|pwd|secret|token|key|signature|credential|auth|jwt|^sig$|^code$/i;

/**
 * A connection URL, or a comma-separated list of them, without its passwords and secret parameters. Text that does not
 * parse as a URL loses more, so that no part of a password is shown.
 */
export function redactUrl(url: string): string {
  return url
    .split(/,\s*(?=[a-z][a-z0-9+.-]*:\/\/)/i)
    .map(redactOne)
    .join(',');
}

/** A query string, with or without its question mark, without the values of secret parameters. */
export function redactQuery(query: string): string {
  return query.replace(/([^?&=]+)=([^&]*)/g, (pair, name: string) =>
    secretParameter.test(decoded(name)) ? `${name}=${mask}` : pair,
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function redactOne(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // With an unescaped slash in it, a password of digits parses as a port and the rest of it as the path.
  const isMisread = parsed?.port !== '' && parsed?.pathname.includes('@');
  if (!parsed || isMisread) return redactText(url);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return '(not a URL)';
  const secretNames = [...new Set(parsed.searchParams.keys())].filter((name) => secretParameter.test(name));
  if (!parsed.password && secretNames.length === 0) return url;
  if (parsed.password) parsed.password = mask;
  for (const name of secretNames) parsed.searchParams.set(name, mask);
  return parsed.href;
}

function redactText(url: string): string {
  const [, scheme, rest] = /^\s*([a-z][a-z0-9+.-]*:\/\/)([^]*)$/i.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return '(not a URL)';
  const host = rest.slice(rest.lastIndexOf('@') + 1).replace(/\?[^]*$/, `?${mask}`);
  return rest.includes('@') ? `${scheme}${mask}@${host}` : `${scheme}${host}`;
}
