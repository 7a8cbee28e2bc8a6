import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Of the limit: above this share, answers close their connections, so that idle ones leave room for new ones. */
const crowdedShare = 0.8;

/**
 * Bounds the connections of a server. One above the limit closes the connection that has waited longest for its first
 * request, so that silent connections never keep a new one out, such as that of a health check.
 */
export class ConnectionLimit {
  readonly #connectionsMax: number;
  #connections = 0;
  /** Connections without a request so far, the oldest first. */
  readonly #silent = new Set<Socket>();

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.prependListener('request', ({ socket }: IncomingMessage) => this.#silent.delete(socket));
  }

  get isCrowded(): boolean {
    return this.#connections > this.#connectionsMax * crowdedShare;
  }

  #add(socket: Socket): void {
    this.#connections += 1;
    this.#silent.add(socket);
    socket.once('close', () => {
      this.#connections -= 1;
      this.#silent.delete(socket);
    });
    if (this.#connections <= this.#connectionsMax) return;
    const [oldest] = this.#silent as Set<Socket | undefined>;
    if (!oldest) return;
    this.#silent.delete(oldest);
    oldest.destroy();
  }
}
