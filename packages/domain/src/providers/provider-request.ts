import type { HeaderLookup } from '../inbound/signature.ts';

/** A request as the engine sees it. */
export type ProviderRequest = {
  /** Upper case. */
  method: string;
  /** What the provider posted to: PUBLIC_URL with path and query, never the `Host` header. */
  url: string;
  /** Without the question mark. */
  query: string;
  headers: HeaderLookup;
  body: Buffer;
};
