import http from 'node:http';
import https from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContext } from 'node:tls';
import { ForbiddenAddressError } from './names/guarded-lookup.ts';

/** Where an endpoint listens; `hostname` without the brackets of an IPv6 literal. */
export interface Target {
  secure: boolean;
  hostname: string;
  port: number;
}

export type ConnectPhase = 'dns' | 'connect' | 'tls';

/** A connection that could not be made: in which phase, and the code of the system or of TLS. */
export class ConnectError extends Error {
  readonly phase: ConnectPhase | 'policy';
  readonly reason: string;

  constructor(phase: ConnectPhase, cause: NodeJS.ErrnoException) {
    super(cause.message || cause.code || cause.name, { cause });
    this.name = 'ConnectError';
    this.phase = cause instanceof ForbiddenAddressError ? 'policy' : phase;
    this.reason = cause.code ?? cause.name;
  }
}

export interface SocketOptions {
  lookup: LookupFunction;
  /** An HTTP proxy to tunnel through; the target's name is then resolved there. */
  proxy?: URL | undefined;
  /** Trusted authorities and client certificates other than the system's. */
  secureContext?: SecureContext | undefined;
}

interface SocketEvents {
  onPhase(phase: ConnectPhase): void;
  onOpen(socket: Socket): void;
  onError(error: ConnectError): void;
  /** A TLS session that the next socket to this target can resume. */
  onSession(session: Buffer): void;
}

/** How long one address is tried before the next; a far endpoint needs 250 ms. */
const addressAttemptTimeoutMs = 1_000;

/**
 * Opens a socket to `target`, through TLS when it is secure, and reports each phase. It has no deadline of
 * its own: the returned function gives up, after which nothing is reported any more.
 */
export function openSocket(
  target: Target,
  { lookup, proxy, secureContext }: SocketOptions,
  session: Buffer | undefined,
  events: SocketEvents,
): () => void {
  const { hostname, port, secure } = target;
  let phase: ConnectPhase = 'connect';
  let over = false;
  let giveUp = () => {};

  const enter = (next: ConnectPhase) => {
    phase = next;
    if (!over) events.onPhase(next);
  };
  const fail = (error: Error) => {
    if (over) return;
    over = true;
    giveUp();
    events.onError(new ConnectError(phase, error));
  };
  const open = (socket: Socket) => {
    if (over) return;
    over = true;
    socket.off('error', fail);
    // An alert of TLS comes as an error that leaves the socket open; the end that follows would hide it.
    socket.once('error', (error) => socket.destroy(error));
    events.onOpen(socket);
  };
  const secured = (options: ConnectionOptions) => {
    const socket = connectTls({
      ...options,
      secureContext,
      session,
      servername: isIP(hostname) ? '' : hostname,
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (latest) => events.onSession(latest));
    return watch(socket.once('secureConnect', () => open(socket)));
  };
  const watch = <S extends Socket>(socket: S): S => {
    giveUp = () => socket.on('error', () => {}).destroy();
    return socket.on('error', fail);
  };

  if (proxy) {
    enter('connect');
    giveUp = openTunnel(proxy, hostname, port, fail, (tunnel) => {
      if (over) {
        tunnel.destroy();
      } else if (secure) {
        enter('tls');
        secured({ socket: tunnel, host: hostname });
      } else {
        open(watch(tunnel));
      }
    });
  } else {
    enter(isIP(hostname) ? 'connect' : 'dns');
    const options = {
      host: hostname,
      port,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressAttemptTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    };
    const socket = secure ? secured(options) : watch(connectTcp(options));
    socket.once('lookup', (error: Error | null) => {
      if (!error) enter('connect');
    });
    socket.once('connect', () => (secure ? enter('tls') : open(socket)));
  }

  return () => {
    over = true;
    giveUp();
  };
}

function openTunnel(
  proxy: URL,
  hostname: string,
  port: number,
  onError: (error: Error) => void,
  onTunnel: (socket: Socket) => void,
): () => void {
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const request = (proxy.protocol === 'https:' ? https : http).request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || undefined,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(credentials !== ':' && {
        'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
      }),
    },
  });
  request.once('connect', ({ statusCode }, socket: Socket, head) => {
    if (statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      onTunnel(socket);
    } else {
      socket.destroy();
      onError(
        Object.assign(new Error(`the egress proxy answered ${statusCode} to CONNECT`), {
          code: 'PROXY_REFUSED',
        }),
      );
    }
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    onError(Object.assign(new Error(`egress proxy: ${error.message}`), { code: error.code }));
  });
  request.end();
  return () => request.destroy();
}
