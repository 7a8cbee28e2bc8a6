import type { IncomingMessage, ServerResponse } from 'node:http';

/** Node's parser of one connection. Its properties are callbacks. */
type Parser = Record<string, unknown>;

/** Node does not document them: without one, its parser makes no objects for what it parses. */
const callbacks = new Set(['parserOnHeaders', 'parserOnHeadersComplete', 'parserOnBody']);

/**
 * Makes Node's parser skip the rest of a body and all later requests of the connection, which must therefore close. Otherwise
 * the parser calls back for each chunk and each request of what it has read already, which is up to 64 KiB: 22 ms with chunks
 * of one byte, 200 ms with pipelined requests. The body still ends.
 */
export function skipRest({ socket }: Pick<IncomingMessage, 'socket'>): void {
  const { parser } = socket as { parser?: Parser | null };
  if (!parser) return;
  const removed = Object.entries(parser).filter(([, value]) => isCallback(value));
  if (removed.length === 0) return;
  for (const [name] of removed) parser[name] = undefined;
  // Node reuses the parser for other connections.
  socket.once('close', () => Object.assign(parser, Object.fromEntries(removed)));
}

function isCallback(value: unknown): boolean {
  return typeof value === 'function' && callbacks.has(value.name);
}

/** For routes that read no body. A request with one is answered, and its connection closes. */
export function ignoreBody(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const { 'content-length': contentLength = '0', 'transfer-encoding': transferEncoding } = request.headers;
  if (contentLength !== '0' || transferEncoding !== undefined) {
    skipRest(request);
    response.shouldKeepAlive = false;
  }
  next();
}
