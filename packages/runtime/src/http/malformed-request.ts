import { STATUS_CODES, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { correlationIdOf } from './correlation.ts';
import { skipRest } from './skip-rest.ts';

/** Why the server itself refuses a request, before the app sees it. */
type Refusal = { statusCode: number; code: string; message: string; headers?: Record<string, string> };

const headersMax = 500;
/** Clients that wait for each answer, as HTTP clients and proxies do, have one. */
const unansweredMax = 32;
const lingerMs = 1_000;
const lingerBytesMax = 16 << 20;

const malformed: Refusal = {
  statusCode: 400,
  code: 'request.malformed',
  message: 'This is not a valid HTTP/1.1 request',
};
const noHost: Refusal = { ...malformed, message: 'An HTTP/1.1 request needs a Host header' };
const tooManyHeaders: Refusal = {
  statusCode: 431,
  code: 'request.headers_too_large',
  message: `There are more than ${headersMax} headers`,
};
const tooManyUnanswered: Refusal = {
  statusCode: 429,
  code: 'connection.too_many_requests',
  message: `${unansweredMax} requests of this connection wait for their answers`,
  headers: { 'Retry-After': '1' },
};
const noTunnel: Refusal = { statusCode: 405, code: 'method.not_allowed', message: 'This is no proxy' };
const refusalByError: Record<string, Refusal> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    statusCode: 408,
    code: 'request.timeout',
    message: 'The request did not arrive in time',
  },
  HPE_HEADER_OVERFLOW: {
    statusCode: 431,
    code: 'request.headers_too_large',
    message: 'The headers are larger than 16 KiB',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    statusCode: 413,
    code: 'request.chunk_extensions_too_large',
    message: 'The chunk extensions are too large',
  },
};

/**
 * Passes a request on to the app, unless HTTP/1.1 forbids it, its headers are too many, or too many requests of its connection
 * wait for their answers. All requests of one read are handled in one turn of the event loop, which delays every other
 * connection: 50 connections that pipelined `GET /health` and read no answer stopped a receiver for 11 s.
 */
export function checked(app: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    response.on('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    const refusal = count > unansweredMax ? tooManyUnanswered : refusalOf(request);
    if (!refusal) return app(request, response);
    refuse(request, response, refusal);
  };
}

/** Answers a request that Node could not parse (`clientError`). An answer that has begun is left as it is. */
export function answerMalformedRequest(error: NodeJS.ErrnoException, stream: Duplex): void {
  const socket = stream as Socket & { _httpMessage?: { headersSent: boolean } };
  // Node reports each read that follows, too.
  if (error.code === 'ECONNRESET' || (!socket.writable && socket.bytesRead > lingerBytesMax)) {
    socket.destroy();
    return;
  }
  if (!socket.writable) return;
  const refusal = refusalByError[error.code ?? ''] ?? malformed;
  closeAfter(socket, socket._httpMessage?.headersSent ? '' : answerText(refusal));
}

/** Answers `CONNECT`, which Node passes to no app. */
export function refuseTunnel(_request: IncomingMessage, stream: Duplex): void {
  const socket = stream as Socket;
  socket.on('error', () => socket.destroy()).resume();
  closeAfter(socket, answerText(noTunnel));
}

function refusalOf(request: IncomingMessage): Refusal | undefined {
  if (request.rawHeaders.length > headersMax * 2) return tooManyHeaders;
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return noHost;
  return undefined;
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { 'x-correlation-id': given } = request.headers;
  const body = bodyOf(refusal);
  response.writeHead(refusal.statusCode, {
    ...refusal.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Correlation-Id': correlationIdOf(typeof given === 'string' ? given : undefined, Date.now()),
    Connection: 'close',
  });
  response.end(body);
  skipRest(request);
}

/** Ends the connection after what was written to it. What the client still sends is discarded for a second: with unread
 * bytes the connection would be reset, and the client might never see the answer. */
function closeAfter(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

function answerText(refusal: Refusal): string {
  const body = bodyOf(refusal);
  return (
    `HTTP/1.1 ${refusal.statusCode} ${STATUS_CODES[refusal.statusCode]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nX-Correlation-Id: ${correlationIdOf(undefined, Date.now())}\r\n` +
    `Connection: close\r\n\r\n${body}`
  );
}

function bodyOf({ code, message }: Refusal): string {
  return JSON.stringify({ error: { code, message } });
}
