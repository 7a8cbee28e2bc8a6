import type { IncomingMessage, ServerResponse } from 'node:http';
import { skipRest } from '@hqrelay/runtime/http/skip-rest';

export type Answer = {
  statusCode: number;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent in place of JSON; without a type it is empty. */
  raw?: { contentType: string | null; bytes: Buffer };
  headers?: Record<string, string>;
};

export function errorAnswer(
  statusCode: number,
  code: string,
  message: string,
  headers?: Record<string, string>,
): Answer {
  return { statusCode, body: { error: { code, message } }, ...(headers && { headers }) };
}

/** A random `Retry-After` of 1 s to `atMostSeconds`, so that senders that were refused together do not all retry at once. */
export function retryLater(atMostSeconds = 4): Record<string, string> {
  return { 'Retry-After': String(1 + Math.floor(Math.random() * atMostSeconds)) };
}

export function sendAnswer(response: ServerResponse, answer: Answer, correlationId: string): void {
  const body = answer.raw?.bytes ?? JSON.stringify(answer.body);
  response.writeHead(answer.statusCode, headersOf(answer, body, correlationId));
  response.end(body);
}

const lingerMs = 1_000;
const lingerBytesMax = 16 << 20;
const lingerCheckEveryMs = 50;

/**
 * Answers a request without reading its body. The rest of the body is discarded for up to a second before the connection
 * closes: closing it with unread bytes would reset it, and the sender might never see the answer.
 */
export function refuseBody(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  correlationId: string,
): void {
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.statusCode, { ...headersOf(answer, body, correlationId), Connection: 'close' });
  response.write(body);
  skipRest(request);
  const { socket } = request;
  const endAt = performance.now() + lingerMs;
  const endAtBytes = socket.bytesRead + lingerBytesMax;
  const finish = () => {
    clearInterval(timer);
    response.end();
  };
  const timer = setInterval(() => {
    if (performance.now() >= endAt || socket.bytesRead >= endAtBytes) finish();
  }, lingerCheckEveryMs);
  request.resume().once('end', finish).once('close', finish);
}

function headersOf(
  { statusCode, raw, headers }: Answer,
  body: string | Buffer,
  correlationId: string,
): Record<string, string | number> {
  const contentType = raw ? raw.contentType : 'application/json';
  const all: Record<string, string | number> = { ...headers };
  if (contentType !== null) all['Content-Type'] = `${contentType}; charset=utf-8`;
  if (statusCode !== 204) all['Content-Length'] = Buffer.byteLength(body);
  all['X-Correlation-Id'] = correlationId;
  return all;
}
