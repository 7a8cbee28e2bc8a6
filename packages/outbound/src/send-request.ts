import { setMaxListeners } from 'node:events';
import type { SecureContext } from 'node:tls';
import type { HttpExchange } from '@hqrelay/domain/attempt-outcome';
import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network-policy';
import type { ConnectionOptions } from './connection.ts';
import { ConnectionPools } from './connection-pools.ts';
import { Exchange } from './exchange.ts';
import { createGuardedLookup, type ResolveAddresses } from './guarded-lookup.ts';

export interface OutboundRequest {
  url: string;
  /** Sent in this order, duplicates and all, after Host and Connection; Content-Length comes last. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
  /** For all of it: waiting for a connection, DNS, connecting, TLS, the answer to its last byte. */
  timeoutMs: number;
  /** Gives up early: the exchange ends with the code `ABORTED`. */
  signal?: AbortSignal | undefined;
}

export interface Sender {
  /** POSTs and says what came of it. It never rejects for what an endpoint does. */
  send(request: OutboundRequest): Promise<HttpExchange>;
  /** Closes idle connections, keeps none from now on, and resolves when the sends under way are over. */
  close(): Promise<void>;
}

export interface SenderOptions {
  policy: NetworkPolicy;
  /** Sockets to one origin, busy and idle together; sends past that wait, in order, inside their deadline. */
  connectionsPerOrigin: number;
  /** Idle sockets over all origins; past that the longest idle one is closed. */
  idleConnectionsMax: number;
  /** An HTTP proxy that resolves the endpoints' names and has to judge their addresses itself. */
  egressProxy?: string | undefined;
  /** Trusted authorities and client certificates other than the system's. */
  secureContext?: SecureContext | undefined;
  /** How names are resolved; the system's way unless given. */
  resolve?: ResolveAddresses | undefined;
}

/**
 * Sends webhooks over keep-alive connections. The caller bounds how many sends are under way at once; the
 * memory of each is its request, 4 KiB of the response and a socket.
 */
export function createSender({
  policy,
  egressProxy,
  secureContext,
  resolve,
  ...limits
}: SenderOptions): Sender {
  const pools = new ConnectionPools(limits);
  const socketOptions = {
    lookup: createGuardedLookup(policy, resolve),
    proxy: egressProxy === undefined ? undefined : new URL(egressProxy),
    secureContext,
  };
  const underWay = new Set<Promise<HttpExchange>>();

  function exchange({ url, headers, body, timeoutMs, signal }: OutboundRequest): Promise<HttpExchange> {
    const checked = checkEndpointUrl(policy, url);
    if (!checked.ok) {
      return Promise.resolve({
        kind: 'error',
        phase: 'policy',
        code: 'FORBIDDEN_URL',
        message: checked.reason,
        latencyMs: 0,
      });
    }
    const { origin, pathname, search } = checked.url;
    return new Promise((resolveExchange) => {
      const sending = new Exchange(
        { method: 'POST', path: pathname + search, headers: headers.flat(), body },
        timeoutMs,
        (result) => {
          signal?.removeEventListener('abort', abort);
          resolveExchange(result);
        },
      );
      const abort = () => sending.fail('ABORTED', 'given up by the relay');
      if (signal?.aborted) {
        abort();
        return;
      }
      if (signal) {
        // One signal may stop thousands of sends; Node would take them for a leak.
        setMaxListeners(0, signal);
        signal.addEventListener('abort', abort);
      }
      sending.start((begin) =>
        pools.acquire(origin, () => connectionOptions(checked.url, socketOptions), begin),
      );
    });
  }

  return {
    send(request) {
      const sending = exchange(request);
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
      return sending;
    },
    async close() {
      pools.close();
      await Promise.all(underWay);
    },
  };
}

function connectionOptions(
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
