import type { IncomingMessage, RequestListener } from 'node:http';
import { isUuid } from '@hqrelay/domain/ids';
import type { Express, Request, Response } from 'express';
import type { WebhookHandler } from './receive.ts';

const prefix = '/v1/webhooks/';
const uuidLength = 36;
const pathLength = prefix.length + uuidLength;

/**
 * Gives webhooks to their handler at once, and all other requests to Express, whose middleware and router would cost a webhook
 * more than the whole parsing of its HTTP. `onError` is Express's own end for a handler that throws.
 */
export function webhooksFirst(
  app: Express,
  handle: WebhookHandler,
  onError: (error: unknown, request: Request, response: Response) => void,
): RequestListener {
  return (request, response) => {
    const projectId = projectIdOf(request);
    // The server makes requests and responses with the prototypes of Express.
    const [asked, answer] = [request as Request, response as Response];
    if (projectId === undefined) app(asked, answer);
    else handle(asked, answer, projectId).catch((error: unknown) => onError(error, asked, answer));
  };
}

/** Undefined for other requests, and for those whose path only Express's rules make a webhook's, such as one that ends in a slash. */
export function projectIdOf({
  method,
  url = '',
}: Pick<IncomingMessage, 'method' | 'url'>): string | undefined {
  if (method !== 'POST' || !url.startsWith(prefix)) return undefined;
  if (url.length > pathLength && url[pathLength] !== '?') return undefined;
  const projectId = url.slice(prefix.length, pathLength);
  return isUuid(projectId) ? projectId : undefined;
}
