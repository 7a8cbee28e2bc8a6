import { z } from 'zod';
import { templateProblem } from './request/template.ts';

/**
 * Where a value stands in a request:
 * - `header:NAME` (lower case; `header:NAME-*` is NAME-1, NAME-2, …), `query:NAME`, `form:NAME` (a form-encoded body)
 * - `json:POINTER` a JSON Pointer into the body, numbers as their literal digits
 * - `setting:NAME` a setting of the project (`--setting NAME=VALUE`)
 * - `signature:TAG` a tagged item of the signature list itself, such as `t` of `t=1,v1=…`
 * - `member:NAME` the name of the body's first member that is not NAME
 */
const source = z
  .string()
  .max(256)
  .regex(
    /^header:[a-z0-9!#$%&'*+.^_`|~-]+$|^(?:query|form|setting|signature|member):.+$|^json:(?:\/.*)?$/,
    'a source such as header:x-name, with header names in lower case',
  );

/**
 * Text with tokens: a source in braces (`{header:webhook-id}`), or one of `{body}`, `{ts}` (the timestamp as it was sent),
 * `{url}` (PUBLIC_URL with path and query), `{method}`, `{secret}`, `{crc32}` (of the body, decimal), `{sortedForm}` (names and
 * values of the form, sorted), `{bodySha256}` (hex). A source that is absent makes the template void; `{SOURCE?}` is empty then.
 */
const template = z
  .string()
  .min(1)
  .max(1_024)
  .refine((text) => templateProblem(text) === undefined, {
    error: ({ input }) => templateProblem(String(input)),
  });

const signaturePlace = z.strictObject({
  from: source,
  /** Separates several signatures: one right signature is enough. Empty items and white space around items are ignored. */
  list: z.enum([',', ' ', ';', '&']).optional(),
  /** Each item is `tag<separator>signature`; items with other tags are ignored. The tag is a template. */
  pair: z.strictObject({ separator: z.enum(['=', ',', '|']), tag: template }).optional(),
  /** Text before the encoded signature, such as `sha256=`. */
  prefix: z.string().min(1).max(32).optional(),
  /** The prefix may be absent. */
  prefixOptional: z.literal(true).optional(),
});

const timestamp = z.strictObject({
  from: source,
  unit: z.enum(['seconds', 'milliseconds', 'iso']),
  /** To either side of now. Undefined: a timestamp of any age is accepted, because the sender signs late retries with it. */
  toleranceSeconds: z
    .int()
    .min(1)
    .max(35 * 86_400)
    .optional(),
});

/** The first scheme of a list whose condition holds judges the request, alone. */
const condition = z.union([z.strictObject({ has: source }), z.strictObject({ lacks: source })]);

const judged = {
  when: condition.optional(),
  /** A JSON Pointer to an array: the scheme must hold for each element, and `json:` sources start at the element. */
  each: z
    .string()
    .regex(/^\/.*$/)
    .optional(),
};

const signed = {
  ...judged,
  signature: signaturePlace,
  encoding: z.enum(['hex', 'base64']),
  /** The signed bytes; of several templates any may match. */
  message: z.union([template, z.array(template).min(1).max(4)]),
  timestamp: timestamp.optional(),
};

const hmacScheme = z.strictObject({
  kind: z.literal('hmac'),
  alg: z.enum(['sha256', 'sha512', 'sha1']),
  /** How the secret holds the key: `whsec` is base64 after an optional `whsec_`; `sha1` is the SHA-1 of the secret. */
  key: z.enum(['utf8', 'hex', 'base64', 'whsec', 'sha1']),
  ...signed,
  /** Holds the body's SHA-256 in hex, itself part of the message. */
  bodyDigest: source.optional(),
});

/**
 * The project's secret is the provider's public key, in hex (Ed25519) or base64 of its SPKI, with or without PEM armour.
 * `ecdsa` is P-256 with SHA-256 and DER signatures, `rsa` is PKCS#1 v1.5 with SHA-256.
 */
const publicKeyScheme = z.strictObject({ kind: z.enum(['ed25519', 'ecdsa', 'rsa']), ...signed });

/** The secret itself is sent. */
const tokenScheme = z.strictObject({
  kind: z.literal('token'),
  ...judged,
  from: source,
  /** Text before the token, such as `Bearer `; it may be absent. */
  prefix: z.string().min(1).max(32).optional(),
});

/** `Authorization: Basic`; the secret is `user:password`. */
const basicScheme = z.strictObject({ kind: z.literal('basic'), ...judged });

/** Everything is accepted. */
const noScheme = z.strictObject({ kind: z.literal('none') });

const anyScheme = z.discriminatedUnion('kind', [
  hmacScheme,
  publicKeyScheme,
  tokenScheme,
  basicScheme,
  noScheme,
]);

/** How a request proves who sent it, as data. */
export type Scheme = z.infer<typeof anyScheme>;
export type SignedScheme = Extract<Scheme, { signature: unknown }>;
export type HmacScheme = z.infer<typeof hmacScheme>;
export type Condition = z.infer<typeof condition>;

/** A scheme that a project brings itself (`--scheme FILE`): it proves who sent the request, and a signature covers the body. */
export const projectScheme = anyScheme
  .refine(
    (scheme) => scheme.kind !== 'none',
    'a scheme checks something; see the provider unverified-accept-anything',
  )
  .refine(
    (scheme) => !('message' in scheme) || messagesOf(scheme).every((message) => message.includes('{body}')),
    'the message does not contain {body}',
  )
  .refine(
    (scheme) =>
      !('message' in scheme) ||
      messagesOf(scheme).every((message) => message.includes('{ts}') === (scheme.timestamp !== undefined)),
    'a timestamp is checked if and only if {ts} is part of the message',
  );

export function messagesOf({ message }: SignedScheme): readonly string[] {
  return typeof message === 'string' ? [message] : message;
}
