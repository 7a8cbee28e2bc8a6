import { fetch, ProxyAgent } from 'undici';
import { proxyAuthorizationOf } from './open-tunnel.ts';

type Fetch = typeof globalThis.fetch;

/** The `fetch` of this process; through a tunnel of the HTTP proxy when one is given, also to an `http:` URL. */
export function createFetch(proxy: string | undefined): Fetch {
  if (proxy === undefined) return globalThis.fetch;
  const token = proxyAuthorizationOf(new URL(proxy));
  const dispatcher = new ProxyAgent({ uri: proxy, ...(token !== undefined && { token }) });
  // A dispatcher needs the `fetch` of its own version of undici, which is not Node's.
  const proxied = (url: string, init: object = {}) => fetch(url, { ...init, dispatcher });
  return proxied as unknown as Fetch;
}
