import type { IncomingHttpHeaders } from 'node:http';
import {
  bodyHeadBytesMax,
  type ExchangePhase,
  type HttpExchange,
} from '@hqrelay/domain/delivery/attempt-outcome';
import type { Dispatcher } from 'undici';
import type { Connection } from './connection.ts';
import type { Lease } from './connection-pools.ts';
import { ConnectError } from './open-socket.ts';

/** How much more is read and discarded, so that the connection can carry the next request. */
const bodyExcessBytesMax = 65_536;

/** The error of a request on an idle connection that the endpoint has closed. */
const staleCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * One request and its response, under one deadline from the wait for a connection to the last byte of the
 * body. It ends once, with its result, and never throws for what an endpoint does.
 *
 * A response counts when it is complete, or when its body exceeds what is read: then the connection is
 * closed, and the status counts. A body that stops, breaks off or drips until the deadline is an error,
 * for any status.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: Dispatcher.DispatchOptions;
  readonly #onResult: (exchange: HttpExchange) => void;
  readonly #startedAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  #connection: Connection | undefined;
  #lease: Lease | undefined;
  #leaveLine: () => unknown = () => {};
  #socketsOpenedBefore = 0;
  #responseBegan = false;
  #isOver = false;
  #statusCode: number | undefined;
  #retryAfter: string | undefined;
  readonly #bodyHead: Buffer[] = [];
  #bodyBytes = 0;

  constructor(
    request: Dispatcher.DispatchOptions,
    timeoutMs: number,
    onResult: (exchange: HttpExchange) => void,
  ) {
    this.#request = request;
    this.#onResult = onResult;
    this.#deadline = setTimeout(() => this.fail('TIMEOUT', `timed out after ${timeoutMs} ms`), timeoutMs);
  }

  /** Lines up for a connection; `acquire` may call `begin` before it returns. */
  start(acquire: (begin: (connection: Connection, lease: Lease) => void) => () => unknown): void {
    this.#leaveLine = acquire((connection, lease) => {
      this.#lease = lease;
      this.#dispatchOn(connection);
    });
  }

  /** Ends the exchange in the phase it is in. */
  fail(code: string, message: string, phase: ExchangePhase = this.#phase): void {
    this.#finish({ kind: 'error', phase, code, message, latencyMs: this.#latencyMs }, false);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('the exchange is over'));
  }

  onResponseStarted(): void {
    this.#responseBegan = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    // A repeated header is a list, in spite of its type.
    const retryAfter = headers['retry-after'] as string | string[] | undefined;
    this.#retryAfter = typeof retryAfter === 'object' ? retryAfter[0] : retryAfter;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const room = bodyHeadBytesMax - this.#bodyBytes;
    // Copied, because a chunk is a window on a whole buffer of the socket.
    if (room > 0) this.#bodyHead.push(Buffer.from(chunk.subarray(0, room)));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > bodyHeadBytesMax + bodyExcessBytesMax) this.#respond(false);
  }

  onResponseEnd(): void {
    this.#respond(true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: NodeJS.ErrnoException): void {
    if (this.#isOver) return;
    // undici drops the code of its parser; the message says what is wrong with the response.
    const code = error.code ?? (error.name === 'HTTPParserError' ? 'HPE_INVALID' : error.name);
    if (error instanceof ConnectError) {
      this.fail(error.reason, error.message, error.phase);
    } else if (this.#lease && this.#isStale(code)) {
      this.#dispatchOn(this.#lease.replace());
    } else {
      const during = this.#statusCode === undefined ? '' : ` in the body of HTTP ${this.#statusCode}`;
      this.fail(code, `${error.message}${during}`);
    }
  }

  get #phase(): ExchangePhase {
    if (this.#statusCode !== undefined) return 'body';
    return this.#connection?.phase ?? 'socket';
  }

  get #latencyMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #dispatchOn(connection: Connection): void {
    this.#connection = connection;
    this.#socketsOpenedBefore = connection.socketsOpened;
    connection.dispatch(this.#request, this);
  }

  /**
   * The endpoint most likely closed the socket while it was idle, if it carried a request before and broke
   * without a byte of a response: that is no failed attempt. In the rare other case the endpoint gets the
   * request twice, as at-least-once delivery allows. The socket that replaces it is fresh, so this happens once.
   */
  #isStale(code: string): boolean {
    const { socketsOpened = 0 } = this.#connection ?? {};
    const socketWasUsed = socketsOpened > 0 && socketsOpened === this.#socketsOpenedBefore;
    return socketWasUsed && !this.#responseBegan && staleCodes.has(code);
  }

  #respond(isComplete: boolean): void {
    if (this.#statusCode === undefined) return;
    this.#finish(
      {
        kind: 'response',
        statusCode: this.#statusCode,
        retryAfter: this.#retryAfter,
        bodyHead: this.#bodyHead.length === 1 ? this.#bodyHead[0]! : Buffer.concat(this.#bodyHead),
        latencyMs: this.#latencyMs,
      },
      isComplete,
    );
  }

  #finish(exchange: HttpExchange, isConnectionReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    this.#leaveLine();
    this.#lease?.release(isConnectionReusable);
    this.#onResult(exchange);
  }
}
