import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './network/loopback-server.ts';
import { waitFor } from './wait-for.ts';

export type RecordedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
  /** When it was complete, ms since epoch. */
  receivedAt: number;
  /** The status it was answered with; absent while it waits, and for ever when the sender closed the connection first. */
  answered?: number;
};

export type HowToAnswer = {
  statusCode?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Waits before it answers. */
  delayMs?: number;
  /** Answers once it has resolved. */
  after?: Promise<unknown>;
  /** Never answers, or resets the connection. */
  instead?: 'hang' | 'reset';
};

export type RecordingEndpoint = {
  url: string;
  /** Every request so far, in the order they were complete. */
  requests: readonly RecordedRequest[];
  /** Requests without an answer yet. */
  inFlight: () => number;
  /** Requests whose sender closed the connection before the answer. */
  cut: () => number;
  /** How requests are answered from now on; a function decides for each. 200 by default. */
  answerWith: (how: HowToAnswer | ((request: RecordedRequest, count: number) => HowToAnswer)) => void;
  /** Resolves with the requests when there are at least `count`. */
  waitForRequests: (count: number) => Promise<readonly RecordedRequest[]>;
  /** Stops listening and cuts every connection; `open` listens on the same port again. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  close: () => Promise<void>;
};

/** The customer's side: an HTTP server on loopback that records each request and answers as a test decides. */
export async function startRecordingEndpoint(): Promise<RecordingEndpoint> {
  const requests: RecordedRequest[] = [];
  let inFlight = 0;
  let cut = 0;
  let how: (request: RecordedRequest, count: number) => HowToAnswer = () => ({});

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const recorded = recordOf(request, Buffer.concat(chunks));
      requests.push(recorded);
      inFlight += 1;
      response.once('close', () => {
        inFlight -= 1;
        if (recorded.answered === undefined) cut += 1;
      });
      answer(recorded, response, how(recorded, requests.length));
    });
  });
  const { port, shut, open } = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    inFlight: () => inFlight,
    cut: () => cut,
    answerWith: (given) => {
      how = typeof given === 'function' ? given : () => given;
    },
    waitForRequests: (count) =>
      waitFor(`${count} requests at the endpoint`, () => requests.length >= count && requests),
    shut,
    open,
    close: shut,
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

function answer(recorded: RecordedRequest, response: ServerResponse, how: HowToAnswer): void {
  if (how.instead === 'hang') return;
  if (how.instead === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const send = () => {
    if (response.destroyed) return;
    recorded.answered = how.statusCode ?? 200;
    response.writeHead(recorded.answered, how.headers);
    response.end(how.body ?? 'ok');
  };
  if (how.after) void how.after.then(send);
  else if (how.delayMs === undefined) send();
  else setTimeout(send, how.delayMs);
}
