import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import type { Request } from 'express';
import type { InboundRequest } from '../ingest/inbound-request.ts';
import { remoteAddress } from './remote-address.ts';

export type WebhookRequest = Request<{ projectId?: string }>;
export type RequestWithoutBody = Omit<InboundRequest, 'body'>;

/** What is known of a request before its body is read. Providers that sign the URL sign `publicUrl`, whatever `Host` says. */
export function inboundOf(request: WebhookRequest, publicUrl: string): RequestWithoutBody {
  const receivedAt = Date.now();
  return {
    projectId: request.params.projectId?.toLowerCase() ?? '',
    method: request.method,
    url: publicUrl + request.originalUrl,
    headers: (name) => headerOf(request, name),
    rawHeaders: request.rawHeaders,
    query: queryOf(request),
    remoteAddr: remoteAddress(request.ip, request.socket.remoteAddress),
    correlationId: correlationIdOf(request.get('x-correlation-id'), receivedAt),
    receivedAt,
  };
}

function headerOf(request: WebhookRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function queryOf(request: WebhookRequest): string {
  const start = request.originalUrl.indexOf('?');
  return start === -1 ? '' : request.originalUrl.slice(start + 1);
}
