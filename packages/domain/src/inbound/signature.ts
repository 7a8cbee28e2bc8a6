import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The value of a request header by its lower-case name, several values joined by `, ` as Node does it. */
export type HeaderLookup = (lowerCaseName: string) => string | undefined;

export type SignatureCheck =
  /** `mac`: the decoded bytes of the signature, which do not depend on the header's spelling. */
  | { kind: 'verified'; secretId: string; mac: Buffer }
  | { kind: 'missing' }
  | { kind: 'malformed'; message: string }
  /** `message`: which signed header is missing, if one is. */
  | { kind: 'mismatch'; message?: string }
  | { kind: 'stale'; message: string };

const headerName = z.string().regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'a header name in lower case');

/** One piece of the signed message: raw bytes of the body, text of a header, or fixed text. */
const messagePart = z.union([
  z.enum(['body', 'timestamp']),
  z.strictObject({ header: headerName }),
  z.strictObject({ literal: z.string().min(1).max(64) }),
]);

const hmacScheme = z
  .strictObject({
    kind: z.literal('hmac'),
    alg: z.enum(['sha256', 'sha512', 'sha1']),
    /** How the bytes of the key are written in the secret; `whsec` is base64 after an optional `whsec_`. */
    key: z.enum(['utf8', 'hex', 'base64', 'whsec']),
    encoding: z.enum(['hex', 'base64']),
    header: headerName,
    /** The text before the encoded signature, such as `sha256=`. */
    prefix: z.string().max(32),
    message: z.array(messagePart).min(1).max(16),
    /** Unix seconds, part of the signed message; `toleranceSeconds` to either side of now. */
    timestamp: z
      .strictObject({ header: headerName, toleranceSeconds: z.int().min(1).max(86_400) })
      .optional(),
  })
  .refine((scheme) => scheme.message.includes('body'), 'the message does not contain the body')
  .refine(
    (scheme) => scheme.message.includes('timestamp') === (scheme.timestamp !== undefined),
    'a timestamp is checked if and only if it is part of the message',
  );

/** How a provider signs, as data: what a project's `scheme` column holds. */
export const signatureScheme = z.discriminatedUnion('kind', [hmacScheme]);

export type SignatureScheme = z.infer<typeof signatureScheme>;

/** `X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the raw body>`, as GitHub signs. */
export const genericScheme: SignatureScheme = {
  kind: 'hmac',
  alg: 'sha256',
  key: 'utf8',
  encoding: 'hex',
  header: 'x-hub-signature-256',
  prefix: 'sha256=',
  message: ['body'],
};

/** The generic scheme over `<timestamp>.<body>`, for projects that require a timestamp. */
export const genericTimestampScheme: SignatureScheme = {
  ...genericScheme,
  message: ['timestamp', { literal: '.' }, 'body'],
  timestamp: { header: 'x-webhook-timestamp', toleranceSeconds: 300 },
};

/**
 * Verifies a request's signature at `now` (ms). No result reveals which projects exist: `missing` and `malformed` depend on
 * the signature header alone, a malformed timestamp counts as a wrong signature, and `stale` requires a correct one.
 * Every secret is tried, in constant time; a secret that does not decode, or decodes to nothing, verifies nothing.
 */
export function verifySignature(
  scheme: SignatureScheme,
  secrets: readonly { id: string; key: string }[],
  request: { headers: HeaderLookup; body: Uint8Array },
  now: number,
): SignatureCheck {
  const header = request.headers(scheme.header);
  if (!header) return { kind: 'missing' };
  const given = parseSignature(scheme, header);
  if (!given) return { kind: 'malformed', message: `${scheme.header} is not ${shapeOf(scheme)}` };

  const keys = secrets.map((secret) => ({ id: secret.id, bytes: decodeKey(scheme, secret.key) }));
  // Without a secret the same work is done with a placeholder, so that the time reveals nothing.
  if (keys.length === 0) keys.push({ id: '', bytes: undefined });
  let secretId: string | undefined;
  for (const { id, bytes } of keys) {
    const expected = computeSignature(scheme, bytes ?? placeholderKey, request.headers, request.body);
    const equal = timingSafeEqual(expected, given);
    if (equal && bytes) secretId ??= id;
  }

  const signedAt = scheme.timestamp && unixSeconds(request.headers(scheme.timestamp.header));
  const message = incompleteness(scheme, request.headers, signedAt);
  if (message) return { kind: 'mismatch', message };
  if (secretId === undefined) return { kind: 'mismatch' };
  const stale = scheme.timestamp && staleness(signedAt!, scheme.timestamp.toleranceSeconds, now);
  return stale ? { kind: 'stale', message: stale } : { kind: 'verified', secretId, mac: given };
}

/**
 * The headers a provider would send with this body at `now` (ms): the signature, its timestamp, and those headers of
 * `headers` that the scheme signs. Throws RangeError when the key does not decode or a signed header is not given.
 */
export function signInbound(
  scheme: SignatureScheme,
  key: string,
  input: { body: Uint8Array; now: number; headers?: Readonly<Record<string, string>> },
): Record<string, string> {
  const keyBytes = decodeKey(scheme, key);
  if (!keyBytes) throw new RangeError(`the secret is empty or not ${scheme.key}`);
  const signed: Record<string, string> = {};
  if (scheme.timestamp) signed[scheme.timestamp.header] = String(Math.floor(input.now / 1_000));
  for (const part of scheme.message) {
    if (typeof part === 'string' || !('header' in part)) continue;
    const value = input.headers?.[part.header];
    if (!value) throw new RangeError(`the scheme signs the header ${part.header}, which is not given`);
    signed[part.header] = value;
  }
  const signature = computeSignature(scheme, keyBytes, (name) => signed[name], input.body);
  return { ...signed, [scheme.header]: scheme.prefix + signature.toString(scheme.encoding) };
}

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;
const placeholderKey = Buffer.alloc(32, 1);

function computeSignature(
  scheme: SignatureScheme,
  key: Uint8Array,
  headers: HeaderLookup,
  body: Uint8Array,
): Buffer {
  const hmac = createHmac(scheme.alg, key);
  for (const part of scheme.message) {
    if (part === 'body') hmac.update(body);
    else if (part === 'timestamp') hmac.update(headers(scheme.timestamp!.header) ?? '', 'latin1');
    // Node reads headers as Latin-1: written back as Latin-1 they are the bytes that the provider signed.
    else if ('header' in part) hmac.update(headers(part.header) ?? '', 'latin1');
    else hmac.update(part.literal, 'utf8');
  }
  return hmac.digest();
}

/** Which header that the scheme signs is missing: a signature over an absent header proves nothing about it. */
function incompleteness(
  scheme: SignatureScheme,
  headers: HeaderLookup,
  signedAt: number | undefined,
): string | undefined {
  if (scheme.timestamp && signedAt === undefined) {
    return `the header ${scheme.timestamp.header} is missing or not a time in unix seconds`;
  }
  for (const part of scheme.message) {
    if (typeof part === 'string' || 'literal' in part || headers(part.header)) continue;
    return `the header ${part.header} is missing`;
  }
  return undefined;
}

function parseSignature(scheme: SignatureScheme, header: string): Buffer | undefined {
  if (!header.startsWith(scheme.prefix)) return undefined;
  const signature = decodeExactly(header.slice(scheme.prefix.length), scheme.encoding);
  return signature?.length === digestBytes[scheme.alg] ? signature : undefined;
}

function shapeOf(scheme: SignatureScheme): string {
  return `${scheme.prefix}<${scheme.encoding} of ${digestBytes[scheme.alg]} bytes>`;
}

function decodeKey(scheme: SignatureScheme, key: string): Buffer | undefined {
  const bytes = decodeKeyBytes(scheme, key);
  return bytes?.length ? bytes : undefined;
}

function decodeKeyBytes(scheme: SignatureScheme, key: string): Buffer | undefined {
  if (scheme.key === 'utf8') return Buffer.from(key, 'utf8');
  if (scheme.key === 'whsec') return decodeExactly(key.replace(/^whsec_/, ''), 'base64');
  return decodeExactly(key, scheme.key);
}

/** `Buffer.from` skips characters that it cannot decode, so a malformed text would pass for a shorter one. */
function decodeExactly(text: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  const form = encoding === 'hex' ? /^(?:[0-9a-f]{2})*$/i : /^[A-Za-z0-9+/]*={0,2}$/;
  if (!form.test(text)) return undefined;
  const digits = text.replace(/=+$/, '').length;
  if (encoding === 'base64' && (digits % 4 === 1 || (digits !== text.length && text.length % 4 !== 0))) {
    return undefined;
  }
  return Buffer.from(text, encoding);
}

function unixSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

function staleness(signedAtSeconds: number, toleranceSeconds: number, now: number): string | null {
  const ageSeconds = now / 1_000 - signedAtSeconds;
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  const distance = `${Math.ceil(Math.abs(ageSeconds))} s ${ageSeconds > 0 ? 'old' : 'in the future'}`;
  return `the timestamp is ${distance}; at most ${toleranceSeconds} s are accepted`;
}
