import { hash, timingSafeEqual, verify as verifyBytes } from 'node:crypto';
import { decodeExactly, decodeHmacKey, decodePublicKey } from './decode-key.ts';
import { parseSignatures, shapeOf } from './parse-signature.ts';
import { elementsAt, onTheWire, readSource, type Reading } from '../request/read-source.ts';
import type { RequestView } from '../request/request-view.ts';
import { messagesOf, type Condition, type HmacScheme, type Scheme, type SignedScheme } from '../scheme.ts';
import { hmacOf, messageOf } from './signed-message.ts';
import { parseTime, staleness } from './signed-time.ts';
import { absentSource, type TemplateValues } from '../request/template.ts';

export type SignatureCheck =
  /**
   * `secretId`: null where nothing is checked. `scheme`: the one that judged the request. `signature`: its decoded bytes, which
   * do not depend on the header's spelling; null where there is none.
   */
  | { kind: 'verified'; secretId: string | null; scheme: Scheme; signature: Buffer | null }
  /** `message`: what is not there. */
  | { kind: 'missing'; message: string }
  | { kind: 'malformed'; message: string }
  /** `message`: which part of the signed message is missing, if one is. */
  | { kind: 'mismatch'; message?: string }
  | { kind: 'stale'; message: string };

/** What a project verifies with. */
export type ProjectKeys = {
  /** All of them are tried. A secret that does not decode verifies nothing. */
  secrets: readonly { id: string; key: string }[];
  settings?: Readonly<Record<string, string>>;
};

const elementsMax = 1_000;

/**
 * Verifies a request at `now` (ms) with the first scheme whose condition holds; never throws. `missing` and `malformed` depend on
 * where the signature stands alone, a malformed timestamp counts as a wrong signature, and `stale` requires a correct one.
 */
export function verifyRequest(
  schemes: readonly Scheme[],
  { secrets, settings = {} }: ProjectKeys,
  view: RequestView,
  now: number,
): SignatureCheck {
  const reading: Reading = { view, settings, isExact: true };
  const scheme = schemes.find((each) => holds('when' in each ? each.when : undefined, reading));
  if (!scheme) return { kind: 'missing', message: 'nothing that the provider signs with' };
  if (scheme.kind === 'none') return { kind: 'verified', secretId: null, scheme, signature: null };
  if (scheme.each === undefined) return judge(scheme, secrets, reading, now);

  const elements = elementsAt(reading, scheme.each);
  if (!elements?.length) return { kind: 'missing', message: `no elements at ${scheme.each} of the body` };
  if (elements.length > elementsMax) return { kind: 'mismatch', message: `over ${elementsMax} elements` };
  let check: SignatureCheck = { kind: 'mismatch' };
  for (const element of elements) {
    check = judge(scheme, secrets, { ...reading, element }, now);
    if (check.kind !== 'verified') return check;
  }
  return check;
}

export function holds(condition: Condition | undefined, reading: Reading): boolean {
  if (!condition) return true;
  if ('has' in condition) return Boolean(readSource(reading, condition.has));
  return !readSource(reading, condition.lacks);
}

type Secrets = ProjectKeys['secrets'];
type Checking = Exclude<Scheme, { kind: 'none' }>;

function judge(scheme: Checking, secrets: Secrets, reading: Reading, now: number): SignatureCheck {
  if (scheme.kind === 'token') return judgeToken(scheme, secrets, reading);
  if (scheme.kind === 'basic') return judgeBasic(scheme, secrets, reading);
  return judgeSignature(scheme, secrets, reading, now);
}

function judgeSignature(
  scheme: SignedScheme,
  secrets: Secrets,
  reading: Reading,
  now: number,
): SignatureCheck {
  const given = parseSignatures(scheme, reading);
  if (given.kind === 'missing') return missing(scheme.signature.from);
  if (given.kind === 'malformed') return malformed(scheme);
  const values = signedValuesOf(reading, given.items);
  if (scheme.timestamp) values.ts = readSource(values, scheme.timestamp.from);
  const verified =
    scheme.kind === 'hmac'
      ? findHmac(scheme, secrets, values, given.signatures)
      : findPublicKey(scheme, secrets, values, given.signatures);
  const signedAt = scheme.timestamp && parseTime(scheme.timestamp, values.ts);
  const message = incompleteness(scheme, values, signedAt);
  if (message !== undefined) return { kind: 'mismatch', message };
  if (!verified) return { kind: 'mismatch' };
  const stale = scheme.timestamp && staleness(scheme.timestamp, signedAt!, now);
  if (stale) return { kind: 'stale', message: stale };
  const { secretId, signature } = verified;
  return { kind: 'verified', secretId, scheme, signature };
}

/** Every field is named, here and for the result: V8 builds an object from a spread many times slower. */
function signedValuesOf(
  { view, settings, element, isExact }: Reading,
  signatureItems: ReadonlyMap<string, string>,
): TemplateValues {
  return { view, settings, element, isExact, signatureItems, ts: undefined, secret: undefined };
}

/** How a request that is for no project is judged: by the form of its signature alone. */
export function judgeForm(scheme: SignedScheme, view: RequestView): SignatureCheck {
  const { kind } = parseSignatures(scheme, { view, settings: {} });
  if (kind === 'missing') return missing(scheme.signature.from);
  return kind === 'malformed' ? malformed(scheme) : { kind: 'mismatch' };
}

function malformed(scheme: SignedScheme): SignatureCheck {
  const place = scheme.signature.from.replace(/^header:/, '');
  return { kind: 'malformed', message: `${place} is not ${shapeOf(scheme)}` };
}

type Verified = { secretId: string; signature: Buffer };

const placeholders: Secrets = [{ id: '', key: '' }];
const placeholderKey = Buffer.alloc(32, 1);

type HmacKey = { form: HmacScheme['key']; bytes: Buffer | undefined; wire: string };

const hmacKeys = new WeakMap<Secrets[number], HmacKey>();

/** The key of a secret, decoded once for all requests; in `wire` one character for each byte. */
function hmacKeyOf(scheme: HmacScheme, secret: Secrets[number]): HmacKey {
  let key = hmacKeys.get(secret);
  if (key?.form !== scheme.key) {
    key = { form: scheme.key, bytes: decodeHmacKey(scheme, secret.key), wire: onTheWire(secret.key) };
    hmacKeys.set(secret, key);
  }
  return key;
}

/** Compares every signature with that of every secret. Without a secret the same work is done with a placeholder, so that the time reveals nothing. */
function findHmac(
  scheme: HmacScheme,
  secrets: Secrets,
  values: TemplateValues,
  signatures: readonly Buffer[],
): Verified | undefined {
  let verified: Verified | undefined;
  for (const secret of secrets.length > 0 ? secrets : placeholders) {
    const { bytes, wire } = hmacKeyOf(scheme, secret);
    values.secret = wire;
    for (const template of messagesOf(scheme)) {
      const message = messageOf(template, values);
      const expected = hmacOf(scheme.alg, bytes ?? placeholderKey, message);
      for (const signature of signatures) {
        const isEqual = timingSafeEqual(expected, signature);
        // A signature over an absent header proves nothing about it.
        if (isEqual && bytes && message.isComplete) verified ??= { secretId: secret.id, signature };
      }
    }
  }
  return verified;
}

function findPublicKey(
  scheme: Exclude<SignedScheme, { kind: 'hmac' }>,
  secrets: Secrets,
  values: TemplateValues,
  signatures: readonly Buffer[],
): Verified | undefined {
  for (const { id, key } of secrets) {
    const publicKey = decodePublicKey(scheme.kind, key);
    if (!publicKey) continue;
    for (const template of messagesOf(scheme)) {
      const message = messageOf(template, values);
      if (!message.isComplete) continue;
      const bytes = Buffer.concat(message.pieces);
      const algorithm = scheme.kind === 'ed25519' ? null : 'sha256';
      const signature = signatures.find((each) => verifyBytes(algorithm, bytes, publicKey, each));
      if (signature) return { secretId: id, signature };
    }
  }
  return undefined;
}

const timeUnits = { seconds: 'in unix seconds', milliseconds: 'in unix milliseconds', iso: 'of ISO 8601' };

/** Which part of the signed message is missing: a signature over an absent header proves nothing about it. */
function incompleteness(
  scheme: SignedScheme,
  values: TemplateValues,
  signedAt: number | undefined,
): string | undefined {
  if (scheme.timestamp && signedAt === undefined) {
    const { from, unit } = scheme.timestamp;
    return `the ${spelled(from)} is missing or not a time ${timeUnits[unit]}`;
  }
  const absent = messagesOf(scheme).map((message) => absentSource(message, values));
  if (absent.every((source) => source !== undefined)) return `the ${spelled(absent[0]!)} is missing`;
  if (scheme.kind !== 'hmac' || scheme.bodyDigest === undefined) return undefined;
  const digest = readSource(values, scheme.bodyDigest)?.toLowerCase();
  return digest === values.view.bodySha256Hex() ? undefined : 'the signed digest is not that of the body';
}

function missing(source: string): SignatureCheck {
  return { kind: 'missing', message: `no ${spelled(source)}` };
}

/** A source as people say it: `header x-signature`. */
function spelled(source: string): string {
  return source.replace(':', ' ');
}

function judgeToken(
  scheme: Extract<Scheme, { kind: 'token' }>,
  secrets: Secrets,
  reading: Reading,
): SignatureCheck {
  const value = readSource(reading, scheme.from);
  if (!value) return missing(scheme.from);
  const { prefix } = scheme;
  const token = prefix !== undefined && value.startsWith(prefix) ? value.slice(prefix.length) : value;
  return equalSecret(scheme, secrets, Buffer.from(token, 'latin1'));
}

function judgeBasic(
  scheme: Extract<Scheme, { kind: 'basic' }>,
  secrets: Secrets,
  reading: Reading,
): SignatureCheck {
  const value = readSource(reading, 'header:authorization');
  if (!value) return missing('header:authorization');
  const encoded = /^Basic +(\S+)$/i.exec(value)?.[1];
  const userAndPassword = encoded === undefined ? undefined : decodeExactly(encoded, 'base64');
  if (!userAndPassword) return { kind: 'malformed', message: 'authorization is not Basic <base64>' };
  return equalSecret(scheme, secrets, userAndPassword);
}

/** Compares digests, so that neither the length nor the first difference of a secret shows in the time. */
function equalSecret(scheme: Scheme, secrets: Secrets, given: Buffer): SignatureCheck {
  const digest = hash('sha256', given, 'buffer');
  let secretId: string | undefined;
  for (const { id, key } of secrets.length > 0 ? secrets : placeholders) {
    const isEqual = timingSafeEqual(digest, hash('sha256', Buffer.from(key, 'utf8'), 'buffer'));
    if (isEqual && key !== '') secretId ??= id;
  }
  return secretId === undefined
    ? { kind: 'mismatch' }
    : { kind: 'verified', scheme, secretId, signature: null };
}
