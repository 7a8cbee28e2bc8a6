import type { Strength } from '@hqrelay/domain/providers/preset';

/** A request as the provider sends it to the relay's public URL. Header names in lower case. */
export type ProviderRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
};

export type SignInput = { body: Buffer; secret: string; url: string; /** ms since epoch */ at: number };

/** What signing adds to a request: headers, a query, or another body where the signature stands in the body. */
export type Signed = { headers?: Record<string, string>; query?: string; body?: Buffer };

/** The provider's official npm package, as an oracle that shares no code with the relay. */
export type Sdk = {
  name: string;
  sign?: (input: SignInput) => Signed | Promise<Signed>;
  /** Throws or returns a false value when the package rejects the request. */
  verify?: (request: ProviderRequest, secret: string) => unknown;
  /** Seconds after which the package rejects a request that is forwarded unchanged; absent when it never does. */
  toleranceSeconds?: number;
  /** The tamperings that the package judges wrong: it accepts an altered request, or rejects a genuine one. */
  mistakes?: readonly string[];
};

/** A request and secret that the provider publishes in its documentation, with the verdict "genuine". */
export type Vector = {
  source: string;
  secret: string;
  request: ProviderRequest;
  /** ms since epoch: when the request was fresh. */
  at: number;
  /** Text that the signature covers, and a replacement. */
  covered: readonly [string, string];
};

/** One format in which a provider sends webhooks. */
export type Variant = {
  name: string;
  /** What its verification proves. */
  covers: Strength;
  /** Whether it is the format of projects that require a timestamp. */
  requiresTimestamp?: true;
  body: string | ((at: number) => string);
  /** Headers beside the signature. */
  headers?: Record<string, string>;
  /** Written from the facts alone, without the relay's engine. */
  sign: (input: SignInput) => Signed;
  /** Header, or place, whose absence makes the request unsigned; absent where nothing is signed. */
  unsign?: (request: ProviderRequest) => ProviderRequest;
  /** A header with a wrong signature before the right one, where the provider sends several. */
  several?: (request: ProviderRequest, wrong: ProviderRequest) => ProviderRequest;
  /** Text in the body that `fields` covers, and text that it does not, each with a replacement. */
  covered?: readonly [string, string];
  uncovered?: readonly [string, string];
  /** The signed time stands in the JSON, which the relay reads only where it is UTF-8. */
  hasTimeInBody?: true;
  /** Seconds after which the relay rejects the request; absent when it accepts old ones. */
  toleranceSeconds?: number;
  /** Null where the provider sends none. */
  expects: { eventId: string | null; eventType: string | null; orderingKey: string | null };
  sdk?: Sdk;
  vectors?: readonly Vector[];
};

export type ProviderCase = {
  secret: string;
  /** Of the same format as `secret`, and not what the request is signed with. */
  otherSecret: string;
  settings?: Readonly<Record<string, string>>;
  variants: readonly Variant[];
};
