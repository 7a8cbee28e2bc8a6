import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Of the limit: above this share, answers close their connections, so that idle ones leave room for new ones. */
const crowdedShare = 0.8;

/**
 * Bounds the connections of a server. One above the limit closes the connection that has waited longest for its first request,
 * or else the one that has waited longest for the rest of a request. Slow connections then never keep a new one out, such as
 * that of a health check.
 */
export class ConnectionLimit {
  readonly #connectionsMax: number;
  #connections = 0;
  /** Connections without a request so far, the oldest first. */
  readonly #silent = new Set<Socket>();
  /** Connections with a request whose body was not read yet, the oldest first. */
  readonly #receiving = new Map<Socket, IncomingMessage>();

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.prependListener('request', (request: IncomingMessage) => this.#receive(request));
  }

  get isCrowded(): boolean {
    return this.#connections > this.#connectionsMax * crowdedShare;
  }

  #add(socket: Socket): void {
    this.#connections += 1;
    const [oldest] = this.#connections > this.#connectionsMax ? this.#slow() : [];
    this.#silent.add(socket);
    socket.once('close', () => {
      this.#connections -= 1;
      this.#forget(socket);
    });
    // Without a slow connection, all others wait for their answers, and the new one is closed.
    const closed = oldest ?? (this.#connections > this.#connectionsMax ? socket : undefined);
    if (!closed) return;
    this.#forget(closed);
    closed.destroy();
  }

  #receive(request: IncomingMessage): void {
    const { socket } = request;
    this.#silent.delete(socket);
    this.#receiving.set(socket, request);
    request.on('close', () => this.#receiving.delete(socket));
  }

  *#slow(): Generator<Socket> {
    yield* this.#silent;
    for (const [socket, { complete }] of this.#receiving) if (!complete) yield socket;
  }

  #forget(socket: Socket): void {
    this.#silent.delete(socket);
    this.#receiving.delete(socket);
  }
}
