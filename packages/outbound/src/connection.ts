import { Client, type Dispatcher } from 'undici';
import { type ConnectPhase, openSocket, type SocketOptions, type Target } from './open-socket.ts';

export interface ConnectionOptions extends SocketOptions {
  target: Target;
  /** Shared by the connections to one target, so that TLS sessions are resumed. */
  tlsSession: { latest: Buffer | undefined };
}

/**
 * One keep-alive connection to a target, for one exchange at a time. It opens its socket when first used,
 * and a new one when the endpoint closed the previous one.
 */
export class Connection {
  /** How far the latest socket is: `headers` once it is open. */
  phase: ConnectPhase | 'headers' = 'connect';
  /** How many sockets were opened: an exchange that opens none runs on a used socket. */
  socketsOpened = 0;

  readonly #client: Client;
  #giveUpOpening = () => {};

  constructor(
    { target, tlsSession, ...socketOptions }: ConnectionOptions,
    onDisconnect: (connection: Connection) => void,
  ) {
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    this.#client = new Client(`${target.secure ? 'https' : 'http'}://${host}:${target.port}`, {
      pipelining: 1,
      // The exchange has one deadline of its own over all of this.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Many servers close an idle socket after 5 s; a shorter Keep-Alive hint of theirs is obeyed.
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: 16_384,
      connect: (_options, callback) => {
        this.socketsOpened += 1;
        this.#giveUpOpening = openSocket(target, socketOptions, tlsSession.latest, {
          onPhase: (phase) => {
            this.phase = phase;
          },
          onOpen: (socket) => {
            this.phase = 'headers';
            callback(null, socket);
          },
          onError: (error) => callback(error, null),
          onSession: (session) => {
            tlsSession.latest = session;
          },
        });
      },
    });
    this.#client.on('disconnect', () => onDisconnect(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Ends the connection at once, whatever it is doing. */
  destroy(): void {
    this.#giveUpOpening();
    void this.#client.destroy();
  }
}
