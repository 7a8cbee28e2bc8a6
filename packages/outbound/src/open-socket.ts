import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContext } from 'node:tls';
import { ForbiddenAddressError } from './names/guarded-lookup.ts';
import { openTunnel } from './open-tunnel.ts';

/** Where an endpoint listens; `hostname` without the brackets of an IPv6 literal. */
export interface Target {
  secure: boolean;
  hostname: string;
  port: number;
}

export type ConnectPhase = 'dns' | 'connect' | 'tls';

/** A connection that could not be made: the phase that failed, and the code of the system or of TLS. */
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
 * its own: the returned function destroys the socket, after which no event is reported.
 */
export function openSocket(
  target: Target,
  options: SocketOptions,
  session: Buffer | undefined,
  events: SocketEvents,
): () => void {
  const opening = new Opening(target, options.secureContext, session, events);
  if (options.proxy) opening.throughProxy(options.proxy);
  else opening.directly(options.lookup);
  return () => opening.giveUp();
}

/** One socket on its way to being open: it is over when it is open, has failed or is given up. */
class Opening {
  readonly #target: Target;
  readonly #secureContext: SecureContext | undefined;
  readonly #session: Buffer | undefined;
  readonly #events: SocketEvents;
  #phase: ConnectPhase = 'connect';
  #isOver = false;
  #discard = () => {};

  constructor(
    target: Target,
    secureContext: SecureContext | undefined,
    session: Buffer | undefined,
    events: SocketEvents,
  ) {
    this.#target = target;
    this.#secureContext = secureContext;
    this.#session = session;
    this.#events = events;
  }

  directly(lookup: LookupFunction): void {
    const { hostname, port, secure } = this.#target;
    this.#enter(isIP(hostname) ? 'connect' : 'dns');
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
    const socket = secure ? this.#secure(options) : this.#watch(connectTcp(options));
    socket.once('lookup', (error: Error | null) => {
      if (!error) this.#enter('connect');
    });
    socket.once('connect', () => (secure ? this.#enter('tls') : this.#opened(socket)));
  }

  throughProxy(proxy: URL): void {
    const { hostname, port, secure } = this.#target;
    this.#enter('connect');
    this.#discard = openTunnel(proxy, hostname, port, this.#fail, (tunnel) => {
      if (this.#isOver) {
        tunnel.destroy();
      } else if (secure) {
        this.#enter('tls');
        this.#secure({ socket: tunnel, host: hostname });
      } else {
        this.#opened(this.#watch(tunnel));
      }
    });
  }

  giveUp(): void {
    this.#isOver = true;
    this.#discard();
  }

  #enter(phase: ConnectPhase): void {
    this.#phase = phase;
    if (!this.#isOver) this.#events.onPhase(phase);
  }

  #secure(options: ConnectionOptions): Socket {
    const { hostname } = this.#target;
    const socket = connectTls({
      ...options,
      secureContext: this.#secureContext,
      session: this.#session,
      servername: isIP(hostname) ? '' : hostname,
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (latest) => this.#events.onSession(latest));
    return this.#watch(socket.once('secureConnect', () => this.#opened(socket)));
  }

  #watch(socket: Socket): Socket {
    // A discarded socket may still fail, which concerns no request any more.
    this.#discard = () => socket.on('error', () => {}).destroy();
    return socket.on('error', this.#fail);
  }

  #opened(socket: Socket): void {
    if (this.#isOver) return;
    this.#isOver = true;
    socket.off('error', this.#fail);
    // A TLS alert is an error that leaves the socket open; the end that follows would hide it.
    socket.once('error', (error) => socket.destroy(error));
    this.#events.onOpen(socket);
  }

  readonly #fail = (error: Error): void => {
    if (this.#isOver) return;
    this.giveUp();
    this.#events.onError(new ConnectError(this.#phase, error));
  };
}
