import { createHealthRouter, type HealthDeps } from '@hqrelay/runtime/http/health';
import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { sendError } from './api/answer.ts';
import { createApiRouter } from './api-router.ts';
import { warnOfProxy } from './api/access/warn-of-proxy.ts';
import type { ApiDeps } from './api/request-context.ts';
import { createViolationReports, violationsPath } from './policy/violation-reports.ts';
import { loadPageFiles } from './pages/page-files.ts';
import { servePages } from './pages/serve-pages.ts';
import { createReader } from './reader/reader.ts';

export type AppDeps = {
  api: ApiDeps;
  health: HealthDeps;
  trustProxy: boolean | number | string[];
  /** Origins whose pages may embed the console. */
  frameAncestors: readonly string[];
};

export function createApp({ api, health, trustProxy, frameAncestors }: AppDeps): Express {
  const app = express();
  app.set('trust proxy', trustProxy);
  app.set('query parser', 'simple');

  app.use(withHeaders);
  app.use(createHealthRouter(health));
  app.use('/api/docs', createReader());
  app.post(violationsPath, ...createViolationReports({ ...api, registry: health.registry }));
  app.use(warnOfProxy(api.logger, trustProxy));
  app.use(createApiRouter(api));
  app.use(servePages(loadPageFiles(), frameAncestors));
  app.use((_request, response) =>
    sendError(response, { statusCode: 404, code: 'path.unknown', message: 'There is nothing at this path' }),
  );
  app.use(onError(api));
  return app;
}

const withHeaders: RequestHandler = (request, response, next) => {
  const correlationId = correlationIdOf(request.get('x-correlation-id'), Date.now());
  response.locals['correlationId'] = correlationId;
  response.set({
    'X-Correlation-Id': correlationId,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  });
  next();
};

/** Errors of Express's body parser and router by their type. */
const malformed: Readonly<Record<string, { statusCode: number; code: string; message: string }>> = {
  'entity.too.large': {
    statusCode: 413,
    code: 'request.too_large',
    message: 'The body is larger than this path takes',
  },
  'entity.parse.failed': {
    statusCode: 400,
    code: 'request.invalid',
    message: 'body: this is not a JSON object',
  },
  'encoding.unsupported': {
    statusCode: 415,
    code: 'request.not_json',
    message: 'Send the body as UTF-8 JSON without a Content-Encoding',
  },
  'charset.unsupported': {
    statusCode: 415,
    code: 'request.not_json',
    message: 'Send the body as UTF-8 JSON',
  },
};

function onError({ logger, stores }: ApiDeps): ErrorRequestHandler {
  return (error: Error & { type?: string; statusCode?: number }, _request, response, next) => {
    if (response.headersSent) return next(error);
    const known = malformed[error.type ?? ''];
    if (known) return sendError(response, known);
    if ((error.statusCode ?? 500) < 500) {
      return sendError(response, {
        statusCode: 400,
        code: 'request.invalid',
        message: 'The request cannot be read',
      });
    }
    logger.error({ err: error, correlationId: response.locals['correlationId'] as string }, 'api.failed');
    sendError(response, isUnavailable(stores, error) ? unavailable : failed);
  };
}

/** Whether Postgres is down, was cut off, has no connection left, or ended a statement that took too long. */
function isUnavailable({ postgres, reads }: ApiDeps['stores'], error: Error & { code?: string }): boolean {
  if (!postgres.health.isUp || !reads.health.isUp) return true;
  return (
    /^(08|53|57|55P03|ECONN)/.test(error.code ?? '') ||
    /^(Connection terminated|Query read timeout|timeout exceeded)/.test(error.message)
  );
}

const failed = { statusCode: 500, code: 'console.failed', message: 'Something failed here; it is logged' };
const unavailable = {
  statusCode: 503,
  code: 'database.unavailable',
  message: 'A database does not answer; try again later',
  headers: { 'Retry-After': '5' },
};
