import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import type { Request, Response } from 'express';
import type { InboundRequest } from '../ingest/inbound-request.ts';
import { remoteAddress } from './remote-address.ts';

const noBody = Buffer.alloc(0);

/**
 * A request before its body is read: `body` is empty. Providers that sign the URL sign `publicUrl`, whatever `Host` says.
 * Neither Express nor its router need have seen the request.
 */
export function inboundOf(
  request: Request,
  response: Response,
  projectId: string,
  publicUrl: string,
): InboundRequest {
  const receivedAt = Date.now();
  const headers = (name: string) => headerOf(request, name);
  return {
    projectId: projectId.toLowerCase(),
    method: request.method,
    url: publicUrl + request.url,
    headers,
    rawHeaders: request.rawHeaders,
    query: queryOf(request.url),
    remoteAddr: remoteAddrOf(request),
    correlationId: correlationIdOf(headers('x-correlation-id'), receivedAt),
    receivedAt,
    onEnded: (listener) => onEnded(response, listener),
    body: noBody,
  };
}

function headerOf(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Without the header of a proxy, Express needs a microsecond to find the address of the connection. */
function remoteAddrOf(request: Request): string | null {
  const forwarded = request.headers['x-forwarded-for'] === undefined ? undefined : request.ip;
  return remoteAddress(forwarded, request.socket.remoteAddress);
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/** At once when the response has ended: it emits `close` only once. */
function onEnded(response: Response, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}
