import { includesRole } from '@hqrelay/domain/access/api-role';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { answerOfRefusal, sendError, type ErrorAnswer } from './answer.ts';
import type { Caller } from './access/caller.ts';
import { refuseUnlessVisible } from './find-named.ts';
import { answerOnce } from './idempotency.ts';
import { createContext, type ApiDeps, type RequestContext } from './request-context.ts';
import type { Attachment, EventStream, Route } from './route.ts';

/** The answer of a route, before it is sent. */
export type RouteAnswer =
  | { kind: 'json'; statusCode: number; body: unknown; warnings: readonly string[] }
  | { kind: 'attachment'; attachment: Attachment }
  | { kind: 'events'; open: EventStream }
  | ({ kind: 'error' } & ErrorAnswer);

const emptyObject = z.strictObject({});

/** Validates a request of an authenticated caller, runs the route, and sends the answer. */
export function serveRoute(deps: ApiDeps, route: Route): RequestHandler {
  return async (request, response) => {
    const context = createContext(deps, response.locals['caller'] as Caller);
    const input = parseInput(route, request);
    if ('statusCode' in input) return sendError(response, input);
    const refused = await refuseAccess(context, route, input.params);
    if (refused) return sendError(response, refused);

    const answer = () => answerOf(context, route, input);
    const idempotencyKey = route.method === 'post' ? request.get('idempotency-key') : undefined;
    if (idempotencyKey === undefined) return send(response, await answer());
    send(response, await answerOnce(context, { idempotencyKey, request, response }, answer));
  };
}

type Input = { params: Record<string, string>; query: unknown; body: unknown };

function parseInput(route: Route, request: Request): Input | ErrorAnswer {
  const { params, query, body } = route;
  if (body && request.body === undefined && hasBody(request)) {
    return {
      statusCode: 415,
      code: 'request.not_json',
      message: 'Send the body as Content-Type: application/json',
    };
  }
  const parts = {
    params: (params ?? emptyObject).safeParse(request.params),
    query: (query ?? emptyObject).safeParse({ ...request.query }),
    body: (body ?? emptyObject).safeParse(request.body ?? {}),
  };
  const problems = Object.entries(parts).flatMap(([part, { error }]) => sentencesOf(part, error));
  if (problems.length > 0) {
    return { statusCode: 400, code: 'request.invalid', message: problems.slice(0, 10).join('; ') };
  }
  return {
    params: parts.params.data as Record<string, string>,
    query: parts.query.data,
    body: parts.body.data,
  };
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
}

/** The messages of zod never repeat a value, which may be a secret. */
function sentencesOf(part: string, error: z.ZodError | undefined): string[] {
  const issues = error?.issues ?? [];
  return issues.map(({ path, message }) => `${[part, ...path.map(String)].join('.')}: ${message}`);
}

async function refuseAccess(
  { pool, caller }: RequestContext,
  { role, needsSession, names = {} }: Route,
  params: Readonly<Record<string, string>>,
): Promise<ErrorAnswer | undefined> {
  const invisible = await refuseUnlessVisible(pool, caller, names, params);
  if (invisible) return invisible;
  if (needsSession && caller.kind !== 'session') {
    return { statusCode: 403, code: 'access.needs_session', message: 'an API key has no session' };
  }
  if (includesRole(caller.role, role)) return undefined;
  const message = `this needs the role ${role}; yours is ${caller.role}`;
  return { statusCode: 403, code: 'access.role_too_low', message };
}

async function answerOf(context: RequestContext, route: Route, input: Input): Promise<RouteAnswer> {
  const reply = await route.handle(context, input as never);
  if (reply.kind === 'refused') return { kind: 'error', ...answerOfRefusal(reply) };
  if (route.answer === 'attachment') {
    return { kind: 'attachment', attachment: reply.value as Attachment };
  }
  if (route.answer === 'events') return { kind: 'events', open: reply.value as EventStream };
  return {
    kind: 'json',
    statusCode: route.statusCode,
    body: route.answer.parse(reply.value),
    warnings: [...context.warnings, ...(reply.warnings ?? [])],
  };
}

function send(response: Response, answer: RouteAnswer): void {
  switch (answer.kind) {
    case 'error':
      return sendError(response, answer);
    case 'events':
      return answer.open(response);
    case 'json': {
      for (const warning of answer.warnings) response.append('X-Hqrelay-Warning', warning);
      response.status(answer.statusCode).json(answer.body);
      return;
    }
    case 'attachment': {
      const { name, bytes, wholeBytes } = answer.attachment;
      response.set({
        'Content-Disposition': `attachment; filename="${name}"`,
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Hqrelay-Whole-Bytes': String(wholeBytes),
      });
      response.type('application/octet-stream').send(bytes);
    }
  }
}
