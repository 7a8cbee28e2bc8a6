import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import { createHealthRouter, createLivenessRouter, type HealthDeps } from '@hqrelay/runtime/http/health';
import { ignoreBody } from '@hqrelay/runtime/http/skip-rest';
import type { Logger } from '@hqrelay/runtime/logger';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { errorAnswer, refuseBody, retryLater } from './http/answer.ts';
import { receiveChallenge, type ChallengeDeps } from './http/receive-challenge.ts';
import { receive, type ReceiveDeps } from './http/receive.ts';

export type AppDeps = ReceiveDeps &
  ChallengeDeps & {
    health: HealthDeps;
    trustProxy: boolean | number | string[];
    /** Whether metrics and readiness have a port of their own. */
    adminApart: boolean;
  };

/** The public side. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  app.set('trust proxy', deps.trustProxy);
  app.set('query parser', false);

  app.post('/v1/webhooks{/:projectId}', receive(deps));
  app.all('/v1/webhooks{/:projectId}', receiveChallenge(deps));
  app.use(withCorrelationId, ignoreBody);
  app.use(deps.adminApart ? createLivenessRouter() : createHealthRouter(deps.health));
  app.use((request, response) => refuseBody(request, response, notFound, correlationId(request)));
  app.use(onError(deps.logger));
  return app;
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
function onError(logger: Logger): ErrorRequestHandler {
  return (error, request, response, next) => {
    const statusCode = (error as { statusCode?: number }).statusCode ?? 503;
    if (response.headersSent) return next(error);
    if (statusCode < 500) {
      const answer = errorAnswer(400, 'request.malformed', 'The URL cannot be read');
      return refuseBody(request, response, answer, correlationId(request));
    }
    logger.error({ err: error as Error }, 'receiver.failed');
    const answer = errorAnswer(503, 'receiver.failed', 'Something failed here; send it again', retryLater());
    refuseBody(request, response, answer, correlationId(request));
  };
}
