import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

export type RecordedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
  /** ms since epoch, when it was complete. */
  receivedAt: number;
};

export type HowToAnswer = {
  statusCode?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Waits before it answers. */
  delayMs?: number;
  /** Never answers, or cuts the connection. */
  instead?: 'hang' | 'reset';
};

export type RecordingEndpoint = {
  url: string;
  /** Every request so far, in the order they were complete. */
  requests: readonly RecordedRequest[];
  /** How requests are answered from now on; a function is asked for each. 200 unless told otherwise. */
  answerWith: (how: HowToAnswer | ((request: RecordedRequest, count: number) => HowToAnswer)) => void;
  /** Resolves with the requests when there are at least `count`. */
  waitForRequests: (count: number, timeoutMs?: number) => Promise<readonly RecordedRequest[]>;
  /** Stops listening and cuts every connection; `open` listens on the same port again. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  close: () => Promise<void>;
};

/** The customer's side: an HTTP server on loopback that records what it gets and answers as it is told. */
export async function startRecordingEndpoint(): Promise<RecordingEndpoint> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let how: (request: RecordedRequest, count: number) => HowToAnswer = () => ({});

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const recorded = recordOf(request, Buffer.concat(chunks));
      requests.push(recorded);
      answer(request, response, how(recorded, requests.length));
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  let port = 0;
  const open = async () => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
    ({ port } = server.address() as AddressInfo);
  };
  const shut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    answerWith: (given) => {
      how = typeof given === 'function' ? given : () => given;
    },
    waitForRequests: (count, timeoutMs = 15_000) =>
      waitFor(`${count} requests at the endpoint`, () => requests.length >= count && requests, { timeoutMs }),
    shut,
    open,
    close: async () => {
      if (server.listening) await shut();
    },
  };
}

function recordOf(request: IncomingMessage, body: Buffer): RecordedRequest {
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    receivedAt: Date.now(),
  };
}

function answer(request: IncomingMessage, response: ServerResponse, how: HowToAnswer): void {
  if (how.instead === 'hang') return;
  if (how.instead === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  const send = () => {
    response.writeHead(how.statusCode ?? 200, how.headers);
    response.end(how.body ?? 'ok');
  };
  if (how.delayMs === undefined) send();
  else setTimeout(send, how.delayMs);
}
