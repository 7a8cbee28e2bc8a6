import express, { Router, type Request, type RequestHandler, type Response } from 'express';
import { routes } from './routes/routes.ts';
import { sendError } from './api/answer.ts';
import type { Caller } from './api/caller.ts';
import { authenticate } from './api/authenticate.ts';
import { createOpenApi } from './api/openapi.ts';
import { createPostmanCollection } from './api/postman.ts';
import type { ApiDeps } from './api/request-context.ts';
import { RequestRate } from './api/request-rate.ts';
import { serveRoute } from './api/serve-route.ts';

type RequestLocals = { caller?: Caller; correlationId: string; code?: string };

const bodyBytesMax = 256 << 10;
/** For each key, and for each process of the console. */
const keyRate = { perSecond: 50, burst: 200 };
/** For each address: requests without an active key. */
const refusedRate = { perSecond: 1, burst: 20 };

/** Every route of the API, and its OpenAPI document and Postman collection, which take no key. */
export function createApiRouter(deps: ApiDeps): Router {
  const document = createOpenApi(routes);
  const documents: Readonly<Record<string, string>> = {
    '/api/openapi.json': JSON.stringify(document),
    '/api/postman.json': JSON.stringify(createPostmanCollection(document)),
  };
  const router = Router();
  for (const [path, text] of Object.entries(documents)) {
    router.get(path, (_request, response) => void response.type('application/json').send(text));
  }
  const steps = [requireKey(deps), express.json({ limit: bodyBytesMax, inflate: false })];
  for (const path of new Set(routes.map((route) => route.path))) {
    const served = routes.filter((route) => route.path === path);
    const expressPath = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const route of served) {
      router[route.method](expressPath, reported(deps, route.name), ...steps, serveRoute(deps, route));
    }
    router.all(expressPath, (_request, response) => {
      const allowed = served.map(({ method }) => method.toUpperCase()).join(', ');
      sendError(response, {
        statusCode: 405,
        code: 'method.not_allowed',
        message: `This path takes ${allowed}`,
        headers: { Allow: allowed },
      });
    });
  }
  return router;
}

function reported({ report }: ApiDeps, operation: string): RequestHandler {
  return (_request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      const { caller, correlationId, code } = response.locals as RequestLocals;
      report({
        operation,
        statusCode: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        apiKeyId: caller?.id,
        correlationId,
        code,
      });
    });
    next();
  };
}

/** Puts the key of the request into `response.locals`, within the limits of the key and of the address. */
function requireKey(deps: ApiDeps): RequestHandler {
  const ofKeys = new RequestRate(keyRate);
  const ofRefused = new RequestRate(refusedRate);
  return async (request: Request, response: Response, next) => {
    const now = deps.now();
    const address = request.ip ?? '';
    const refusedWaitMs = ofRefused.waitOf(address, now);
    if (refusedWaitMs > 0) return tooMany(response, refusedWaitMs);
    const caller = await authenticate(deps.stores.postgres.pool, request.get('authorization'), now);
    if ('statusCode' in caller) {
      ofRefused.take(address, now);
      return sendError(response, caller);
    }
    response.locals['caller'] = caller;
    const waitMs = ofKeys.take(caller.id, now);
    if (waitMs > 0) return tooMany(response, waitMs);
    next();
  };
}

function tooMany(response: Response, waitMs: number): void {
  sendError(response, {
    statusCode: 429,
    code: 'request.too_many',
    message: 'Too many requests: wait as long as Retry-After says',
    headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
  });
}
