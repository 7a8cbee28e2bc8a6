import { bodyHeadBytesMax, type HttpExchange } from '../delivery/attempt-outcome.ts';

type HeaderPairs = readonly (readonly [name: string, value: string])[];

const mask = '***';
/** Shorter values (`prod`, `1`) occur in any text. */
const secretLengthMin = 6;
/** Shorter parts of a value may be words of its text. */
const partLengthMin = 12;

/**
 * The secrets of one request, for masking them in what the endpoint answers: its fixed headers, the credentials put back
 * for it, every header named a signature, and the keys in `secrets`. Header values are Latin-1, as Node sends them.
 */
export function secretsSent(request: {
  headers: HeaderPairs;
  fixedHeaders: HeaderPairs;
  credentials: HeaderPairs;
  /** Signing secrets and the project's secrets. */
  secrets: readonly string[];
}): string[] {
  const signatures = request.headers.filter(([name]) => /signature/i.test(name));
  const values = [...request.fixedHeaders, ...request.credentials, ...signatures].map(([, value]) => value);
  const keys = request.secrets.map((secret) => Buffer.from(secret).toString('latin1'));
  return [
    ...values.flatMap((value) => [value, ...partsOf(value)]),
    ...keys.flatMap((each) => [each, unprefixed(each)]),
  ];
}

/** `text` without the secrets, also where it repeats them percent-encoded, in JSON, in HTML or in base64. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return maskForms(text, formsOf(secrets, { lengthMax: text.length }));
}

/** The exchange without the secrets that the endpoint, or a message about its answer, repeats. */
export function maskExchange(exchange: HttpExchange, collectSecrets: () => readonly string[]): HttpExchange {
  if (exchange.kind === 'error') {
    return { ...exchange, message: maskSecrets(exchange.message, collectSecrets()) };
  }
  if (exchange.bodyHead.length < secretLengthMin) return exchange;
  const body = Buffer.from(exchange.bodyHead).toString('latin1');
  const isCutOff = exchange.bodyHead.length >= bodyHeadBytesMax;
  const forms = formsOf(collectSecrets(), { lengthMax: isCutOff ? Number.POSITIVE_INFINITY : body.length });
  const masked = maskForms(isCutOff ? maskEnd(body, forms) : body, forms);
  return masked === body ? exchange : { ...exchange, bodyHead: Buffer.from(masked, 'latin1') };
}

/**
 * Longest first, so that no part of a longer secret stays. A text of `lengthMax` holds no longer secret, because no encoding
 * is shorter than its secret.
 */
function formsOf(secrets: readonly string[], { lengthMax }: { lengthMax: number }): string[] {
  const fitting = secrets.filter(({ length }) => length >= secretLengthMin && length <= lengthMax);
  return [...new Set(fitting.flatMap(encodingsOf))].toSorted((a, b) => b.length - a.length);
}

function maskForms(text: string, forms: readonly string[]): string {
  return forms.reduce((masked, form) => masked.replaceAll(form, mask), text);
}

function maskEnd(text: string, forms: readonly string[]): string {
  for (const form of forms) {
    for (let length = form.length - 1; length >= secretLengthMin; length -= 1) {
      if (text.endsWith(form.slice(0, length))) return text.slice(0, -length) + mask;
    }
  }
  return text;
}

function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'latin1');
  const escapedInHtml = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return [
    secret,
    encodeURIComponent(bytes.toString('utf8')),
    JSON.stringify(secret).slice(1, -1),
    escapedInHtml,
    bytes.toString('base64'),
  ];
}

/** What a header value carries besides its scheme: `Bearer X`, `v1,X v1,Y`, `sha256=X`, `token="X"`, `Basic <user:X>`. */
function partsOf(value: string): string[] {
  const words = value
    .split(/[\s,;"']+/)
    .flatMap((word) => [word, /^[\w-]{1,20}=(.+)$/.exec(word)?.[1] ?? '']);
  const basic = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value)?.[1];
  const account = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('latin1');
  return [
    ...words.filter((word) => word.length >= partLengthMin),
    account,
    account.slice(account.indexOf(':') + 1),
  ];
}

function unprefixed(secret: string): string {
  return secret.replace(/^[a-z]{2,10}_/, '');
}
