import type { Condition, Scheme } from './scheme.ts';

/**
 * How sure a fact is: `sdk` read in the official SDK and confirmed by running it, `vendor` read in the vendor's own source,
 * `docs` read in the vendor's documentation, `third-party` only reported by others, `memory` not verified at all.
 */
export type Evidence = 'sdk' | 'vendor' | 'docs' | 'third-party' | 'memory';

/** What a verified request proves: the whole body, some fields of it, that the sender knows a token, or nothing. */
export type Strength = 'body' | 'fields' | 'bearer' | 'nothing';

/** A request on the webhook URL that the relay answers itself: it is never queued. */
export type Handshake = {
  method: 'GET' | 'HEAD' | 'POST';
  /** All must hold. */
  when?: readonly (Condition | { source: string; matches: RegExp })[];
  /** Whether the request must pass the provider's schemes first. */
  isSigned: boolean;
  /** Must be equal, in constant time: what a source holds, and what a template gives, such as `{setting:verify-token}`. */
  mustEqual?: { source: string; value: string };
  reply: {
    status: 200 | 204;
    /** A template as `text/plain`, or an object of templates and numbers as JSON. Nothing is an empty body. */
    text?: string;
    json?: Readonly<Record<string, string | number>>;
    /** Makes `{hmac}` in the reply: the HMAC of a source's value with the project's newest secret. */
    hmac?: { of: string; alg: 'sha256' | 'sha1'; key: 'utf8' | 'sha1' };
  };
};

/** A value that a preset needs beside the secret. */
export type PresetSetting = {
  name: string;
  /** What it is and where the provider shows it. */
  what: string;
  isRequired: boolean;
};

/** One provider: everything the relay knows about it, as data. Templates and sources are those of `scheme.ts`. */
export type Preset = {
  /** Lower case with dashes. */
  name: string;
  title: string;
  /** The first whose condition holds judges the request. */
  schemes: readonly Scheme[];
  /** Replaces `schemes` in projects that require a timestamp; other presets refuse `--require-timestamp`. */
  timestampScheme?: Scheme;
  strength: Strength;

  /** Templates; the first that is not void gives the value. Without any id it is the body's SHA-256. */
  webhookId: readonly string[];
  eventType: readonly string[];
  /** What events of the same thing have in common. */
  orderingKey: readonly string[];

  /** The answer to an accepted webhook and to its duplicates: 202 with JSON if absent. `text` replaces the JSON, `''` is empty. */
  accepted?: { status: 200 | 202 | 204; text?: string };
  /** What another body under the same id is. `duplicate` where the sender serialises the event anew for a retry. */
  changedBody: 'reject' | 'duplicate';
  /** At least as long as the sender retries. */
  idempotencyTtlSeconds: number;
  /** Whether a signed body that is declared as JSON and does not parse is accepted. */
  acceptsUnparsable?: true;
  handshakes?: readonly Handshake[];

  /** What the project's secret is, and who makes it. */
  secret: { what: string; from: 'provider' | 'relay' };
  settings?: readonly PresetSetting[];
  /** Texts that the provider refuses anywhere in a URL. */
  refusedInUrl?: readonly string[];

  /** What to do at the provider, in steps; `{webhookUrl}` and `{secret}` are filled in. */
  setUp: readonly string[];
  /** What the customer's own code can verify of a forwarded webhook. */
  customerVerifies: string;
  /** What else an operator should know. */
  special: readonly string[];

  evidence: Evidence;
  /** Facts of this row that are less sure than `evidence` says. */
  unverified: readonly string[];
  /** The vendor's npm package that verifies, as the oracle. */
  sdk?: string;
};
