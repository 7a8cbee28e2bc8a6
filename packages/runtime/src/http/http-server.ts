import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Express } from 'express';
import { ConnectionLimit } from './connection-limit.ts';
import { answerMalformedRequest, checked, refuseTunnel } from './malformed-request.ts';

export interface HttpServer {
  /** Resolves with the port; rejects with an error whose message names the cause and the remedy. */
  listen(port: number): Promise<number>;
  /**
   * Stops accepting connections, asks active clients to close theirs, lets requests in flight finish, and resolves when all
   * connections are closed. After `deadlineMs` the remaining ones are destroyed.
   */
  close(deadlineMs: number): Promise<{ connectionsCut: boolean }>;
}

export type HttpServerOptions = {
  connectionsMax?: number;
  headersTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** Gets the requests before the app, and gives it those that it does not handle. */
  listener?: RequestListener;
};

/** An HTTP/1.1 server around an Express app, with bounded connections, headers and request times. */
export function createHttpServer(
  app: Express,
  {
    connectionsMax = 10_000,
    headersTimeoutMs = 10_000,
    idleTimeoutMs = 30_000,
    listener: first = app,
  }: HttpServerOptions = {},
): HttpServer {
  app.disable('x-powered-by');
  app.set('etag', false);

  let draining = false;
  closeAfterResponseWhen(() => draining || limit.isCrowded, app);
  const listener = checked(first);
  const server = createServer(
    {
      ...presetPrototypes(app),
      keepAliveTimeout: 65_000, // longer than the usual 60 s of load balancers, which would otherwise send on a socket that is being closed
      headersTimeout: headersTimeoutMs,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 1_000, // how often Node checks the two limits above
      maxHeaderSize: 16_384,
      // Node's own answer has no body; `checked` answers instead.
      requireHostHeader: false,
    },
    listener,
  );
  const limit = new ConnectionLimit(server, connectionsMax);
  // A client that reads none of its answers is idle. After an answer that it read, `keepAliveTimeout` counts.
  server.timeout = idleTimeoutMs;
  server.on('clientError', answerMalformedRequest);
  server.on('connect', refuseTunnel);
  // Expectations other than 100-continue are ignored: a provider that sends one still gets its webhook accepted.
  server.on('checkExpectation', listener);

  return {
    listen: (port) => listen(server, port),
    async close(deadlineMs) {
      const deadline = performance.now() + deadlineMs;
      if (server.listening) await acceptedAll(server);
      // Not before: a client that is asked to close its connection opens a new one.
      draining = true;
      return closeGracefully(server, Math.max(0, deadline - performance.now()));
    },
  };
}

/**
 * Express sets the prototype of every request and response, which on Node 20 and 22 makes V8 drop its
 * optimisations for them and costs four times as much as the rest of the server. Objects that are created with
 * the prototypes Express wants are left alone.
 */
function presetPrototypes(app: Express) {
  function ReceivedRequest(this: IncomingMessage, socket: Socket) {
    Reflect.apply(IncomingMessage, this, [socket]);
  }
  function AppResponse(this: ServerResponse, request: IncomingMessage, options?: object) {
    Reflect.apply(ServerResponse, this, [request, options]);
  }
  ReceivedRequest.prototype = app.request;
  AppResponse.prototype = app.response;
  // As for a subclass: V8 reserves room in each object for the fields of Node's constructors, in place of adding them one by one.
  Object.setPrototypeOf(ReceivedRequest, IncomingMessage);
  Object.setPrototypeOf(AppResponse, ServerResponse);
  return {
    IncomingMessage: ReceivedRequest as unknown as typeof IncomingMessage,
    ServerResponse: AppResponse as unknown as typeof ServerResponse,
  };
}

/** Every response passes through writeHead, so this also reaches responses that were in flight when draining began. */
function closeAfterResponseWhen(mustClose: () => boolean, app: Express): void {
  app.response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    if (mustClose()) this.shouldKeepAlive = false;
    return ServerResponse.prototype.writeHead.apply(this, args as Parameters<ServerResponse['writeHead']>);
  } as typeof app.response.writeHead;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(explainListenError(error, port));
    server.once('error', onError);
    server.listen({ port, backlog: 1024 }, () => {
      server.off('error', onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function explainListenError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} is already in use: stop the process that listens there, or choose another port`,
    );
  }
  if (error.code === 'EACCES')
    return new Error(`No permission to listen on port ${port}: choose one above 1023`);
  return error;
}

const sweepIntervalMs = 100;

const acceptWithinMs = 250;

/**
 * Closing the listening socket resets clients whose connection the kernel has accepted but this process has not. Resolves
 * after a turn of the event loop without a new connection.
 */
async function acceptedAll(server: Server): Promise<void> {
  const giveUpAt = performance.now() + acceptWithinMs;
  let hasArrived = false;
  const onConnection = () => (hasArrived = true);
  server.on('connection', onConnection);
  // The current turn of the event loop may have polled the sockets already.
  await nextTurn();
  do {
    hasArrived = false;
    await nextTurn();
  } while (hasArrived && performance.now() < giveUpAt);
  server.off('connection', onConnection);
}

/**
 * `server.close()` would at once destroy every connection that looks idle, and one whose next request is
 * already in the kernel's buffer looks idle: its client would see a reset. So at first only the listening
 * socket is closed. Active clients learn from `Connection: close` in their next answer; connections
 * that stay silent are closed from then on, each time just after the event loop has read every socket.
 */
async function closeGracefully(server: Server, deadlineMs: number): Promise<{ connectionsCut: boolean }> {
  let connectionsCut = false;
  const silentFrom = performance.now() + Math.min(1_000, deadlineMs / 4);
  const sweep = setInterval(() => {
    if (performance.now() >= silentFrom) setImmediate(() => server.closeIdleConnections());
  }, sweepIntervalMs);
  const deadline = setTimeout(() => {
    connectionsCut = true;
    server.closeAllConnections();
  }, deadlineMs);
  try {
    if (server.listening) {
      await new Promise<void>((resolve) => {
        NetServer.prototype.close.call(server, () => resolve());
      });
    }
  } finally {
    clearInterval(sweep);
    clearTimeout(deadline);
  }
  server.close(); // ends Node's own timer of connection checks; no connection is left to close
  return { connectionsCut };
}
