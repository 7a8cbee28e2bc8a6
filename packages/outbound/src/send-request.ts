import type { HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import type { EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import type { NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import type { ConnectionOptions } from './connection.ts';
import { ConnectionPools } from './connection-pools.ts';
import { createEndpointUrls } from './endpoint-urls.ts';
import { ExchangesUnderWay } from './exchanges-under-way.ts';
import { createGuardedLookup } from './names/guarded-lookup.ts';
import { createResolveHost, type ResolveHost } from './names/resolve-host.ts';
import type { SocketOptions } from './open-socket.ts';
import { createTlsIdentities, type TlsIdentity } from './tls-identity.ts';

export interface OutboundRequest {
  url: string;
  /** Sent in this order, duplicates and all, after Host and Connection; Content-Length comes last. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
  /** For all of it: waiting for a connection, DNS, connecting, TLS, the answer to its last byte. */
  timeoutMs: number;
  /** Requests go over one connection only if this is the same for both. */
  tls?: EndpointTls | undefined;
}

export interface Sender {
  /** POSTs, and resolves with the exchange. It never rejects for what an endpoint does. */
  send(request: OutboundRequest): Promise<HttpExchange>;
  /** Ends the sends under way and all later ones with the code `ABORTED`. */
  abort(): void;
  /** Closes idle connections, keeps none from now on, and resolves when the sends under way are over. */
  close(): Promise<void>;
}

export interface SenderOptions {
  policy: NetworkPolicy;
  /** Sockets to one origin, busy and idle together; sends past that wait in order, within their deadline. */
  connectionsPerOrigin: number;
  /** Idle sockets over all origins; past that, the longest idle one is closed. */
  idleConnectionsMax: number;
  /** An HTTP proxy that resolves the endpoints' names and has to judge their addresses itself. */
  egressProxy?: string | undefined;
  /** How names are resolved; by this machine's files and name servers unless given. */
  resolve?: ResolveHost | undefined;
  /** A clock in ms, by which the addresses of a name expire; the process's unless given. */
  now?: (() => number) | undefined;
}

/**
 * Sends webhooks over keep-alive connections. The caller bounds how many sends are under way at once; the
 * memory of each is its request, 4 KiB of the response and a socket.
 */
export function createSender({
  policy,
  egressProxy,
  resolve = createResolveHost(),
  now,
  ...limits
}: SenderOptions): Sender {
  const routeTo = createRoutes(policy, {
    lookup: createGuardedLookup(policy, resolve, now),
    proxy: egressProxy === undefined ? undefined : new URL(egressProxy),
  });
  const pools = new ConnectionPools(limits);
  const underWay = new ExchangesUnderWay();

  return {
    send({ url, headers, body, timeoutMs, tls }) {
      const route = routeTo(url, tls);
      if ('kind' in route) return Promise.resolve(route);
      const { path, pool, connectionOptions } = route;
      const request = { method: 'POST', path, headers: flattened(headers), body } as const;
      return underWay.run(request, timeoutMs, (begin) => pools.acquire(pool, connectionOptions, begin));
    },
    abort: () => underWay.abort(),
    async close() {
      pools.close();
      await underWay.idle();
    },
  };
}

/** How a request reaches its endpoint: requests with the same `pool` share connections. */
interface Route {
  path: string;
  pool: string;
  connectionOptions: () => ConnectionOptions;
}

/** The route to a URL, or the exchange of a request that is not sent. */
function createRoutes(
  policy: NetworkPolicy,
  socketOptions: SocketOptions,
): (url: string, tls: EndpointTls | undefined) => Route | HttpExchange {
  const checkUrl = createEndpointUrls(policy);
  const identityOf = createTlsIdentities();
  return (url, tls) => {
    const checked = checkUrl(url);
    if (!checked.ok) return notSent('policy', 'FORBIDDEN_URL', checked.reason);
    const { origin, path } = checked;
    let identity: TlsIdentity;
    try {
      identity = identityOf(tls);
    } catch (error) {
      return notSent('tls', 'UNUSABLE_CERTIFICATE', (error as Error).message);
    }
    const { name, secureContext } = identity;
    return {
      path,
      // A socket that was opened with one endpoint's certificate never carries the requests of another.
      pool: name === '' ? origin : `${origin} ${name}`,
      connectionOptions: () => connectionOptionsOf(checked.url, { ...socketOptions, secureContext }),
    };
  };
}

/** `Array.flat` takes several times as long. */
function flattened(headers: OutboundRequest['headers']): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}

function notSent(phase: 'policy' | 'tls', code: string, message: string): HttpExchange {
  return { kind: 'error', phase, code, message, latencyMs: 0 };
}

function connectionOptionsOf(
  { protocol, hostname, port }: URL,
  socketOptions: Omit<ConnectionOptions, 'target' | 'tlsSession'>,
): ConnectionOptions {
  const secure = protocol === 'https:';
  return {
    ...socketOptions,
    target: {
      secure,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (secure ? 443 : 80),
    },
    tlsSession: { latest: undefined },
  };
}
