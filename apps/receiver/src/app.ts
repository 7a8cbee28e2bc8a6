import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import { createHealthRouter, createLivenessRouter, type HealthDeps } from '@hqrelay/runtime/http/health';
import { ignoreBody } from '@hqrelay/runtime/http/skip-rest';
import type { Logger } from '@hqrelay/runtime/logger';
import type { RequestListener } from 'node:http';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { errorAnswer, refuseBody, retryLater } from './http/answer.ts';
import { receiveChallenge, type ChallengeDeps } from './http/receive-challenge.ts';
import { receive, type ReceiveDeps } from './http/receive.ts';
import { webhooksFirst } from './http/webhooks-first.ts';

export type AppDeps = ReceiveDeps &
  ChallengeDeps & {
    health: HealthDeps;
    trustProxy: boolean | number | string[];
    /** Whether metrics and readiness have a port of their own. */
    adminApart: boolean;
  };

/** The public side: the app, and the listener that handles webhooks before it. */
export function createApp(deps: AppDeps): { app: Express; listener: RequestListener } {
  const app = express();
  app.set('trust proxy', deps.trustProxy);
  app.set('query parser', false);

  const handle = receive(deps);
  const onError = errorHandler(deps.logger);
  app.post('/v1/webhooks{/:projectId}', (request, response) =>
    handle(request, response, request.params['projectId'] ?? ''),
  );
  app.all('/v1/webhooks{/:projectId}', receiveChallenge(deps));
  app.use(withCorrelationId, ignoreBody);
  app.use(deps.adminApart ? createLivenessRouter() : createHealthRouter(deps.health));
  app.use((request, response) => refuseBody(request, response, notFound, correlationId(request)));
  app.use((error: unknown, request: Request, response: Response, _next: unknown) =>
    onError(error, request, response),
  );
  return { app, listener: webhooksFirst(app, handle, onError) };
}

/** Where metrics and readiness answer when they have a port of their own. */
export function createAdminApp(health: HealthDeps): Express {
  return express().use(withCorrelationId, ignoreBody, createHealthRouter(health));
}

const notFound = errorAnswer(404, 'path.unknown', 'Webhooks are sent to /v1/webhooks/<projectId>');

const correlationId = (request: Request): string =>
  correlationIdOf(request.get('x-correlation-id'), Date.now());

const withCorrelationId: RequestHandler = (request, response, next) => {
  response.setHeader('X-Correlation-Id', correlationId(request));
  next();
};

/** A fault of the relay is never a 4xx: senders do not retry those. */
function errorHandler(logger: Logger) {
  return (error: unknown, request: Request, response: Response): void => {
    const statusCode = (error as { statusCode?: number }).statusCode ?? 503;
    if (response.headersSent) {
      request.socket.destroy();
      return;
    }
    if (statusCode < 500) {
      const answer = errorAnswer(400, 'request.malformed', 'The URL cannot be read');
      return refuseBody(request, response, answer, correlationId(request));
    }
    logger.error({ err: error as Error }, 'receiver.failed');
    const answer = errorAnswer(503, 'receiver.failed', 'Something failed here; send it again', retryLater());
    refuseBody(request, response, answer, correlationId(request));
  };
}
