import type { IncomingMessage, ServerResponse } from 'node:http';

/** Node's parser of one connection. Its properties are callbacks. */
type Parser = Record<string, unknown>;

/**
 * Makes Node's parser skip the rest of a body, and the bodies of later requests on the connection, which must therefore close.
 * Otherwise the parser creates a buffer and calls back for each chunk of what it has read, which is up to 64 KiB: with chunks
 * of one byte that takes 22 ms.
 */
export function skipBody({ socket }: IncomingMessage): void {
  // Not documented by Node: a parser without this callback creates no buffers.
  const { parser } = socket as { parser?: Parser | null };
  const name = Object.keys(parser ?? {}).find((each) => isBodyCallback(parser?.[each]));
  if (!parser || name === undefined) return;
  const onBody = parser[name];
  parser[name] = undefined;
  // Node reuses the parser for other connections.
  socket.once('close', () => (parser[name] = onBody));
}

function isBodyCallback(value: unknown): boolean {
  return typeof value === 'function' && value.name === 'parserOnBody';
}

/** For routes that read no body. A request with one is answered, and its connection closes. */
export function ignoreBody(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const { 'content-length': contentLength = '0', 'transfer-encoding': transferEncoding } = request.headers;
  if (contentLength !== '0' || transferEncoding !== undefined) {
    skipBody(request);
    response.shouldKeepAlive = false;
  }
  next();
}
