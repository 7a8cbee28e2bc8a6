import express, { Router, type RequestHandler } from 'express';
import { routes } from './routes/routes.ts';
import { sendError } from './api/answer.ts';
import type { Caller } from './api/access/caller.ts';
import { createOpenApi } from './api/openapi.ts';
import { createPostmanCollection } from './api/postman.ts';
import type { ApiDeps } from './api/request-context.ts';
import { requireCaller } from './api/access/require-caller.ts';
import { serveRoute } from './api/serve-route.ts';
import { createSignIn } from './api/access/sign-in.ts';

type RequestLocals = { caller?: Caller; correlationId: string; code?: string };

const bodyBytesMax = 256 << 10;

/** Every route of the API, and its OpenAPI document and Postman collection, which take no key; and the sign-in of the pages. */
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
  router.post('/api/v1/sessions', reported(deps, 'signIn'), ...createSignIn(deps));
  const steps = [requireCaller(deps), express.json({ limit: bodyBytesMax, inflate: false })];
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
        apiKeyId: caller?.kind === 'key' ? caller.id : undefined,
        sessionId: caller?.kind === 'session' ? caller.id : undefined,
        correlationId,
        code,
      });
    });
    next();
  };
}
