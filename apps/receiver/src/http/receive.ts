import { isUuid, newId } from '@hqrelay/domain/ids';
import { correlationIdOf } from '@hqrelay/runtime/http/correlation';
import type { Request, RequestHandler } from 'express';
import { errorAnswer, refuseBody, retryLater, sendAnswer, type Answer } from './answer.ts';
import type { IngestResult, InboundRequest } from '../ingest/inbound-request.ts';
import type { BodyReader } from './read-body.ts';
import { Refusals } from './refusals.ts';
import type { Report } from '../report.ts';

export type ReceiveDeps = {
  bodies: BodyReader;
  ingest: (request: InboundRequest) => Promise<IngestResult>;
  /** A body that was refused for its size, before anything of it was verified. */
  recordTooLarge: (request: Omit<InboundRequest, 'body'>, bytes: number) => void;
  report: Report;
};

/** Senders give up after 3 s. What is still under way goes on, and decides what the provider's retry is told. */
const answerWithinMs = 2_300;

const undecided = {
  kind: 'unavailable' as const,
  code: 'webhook.undecided',
  message: 'The webhook could not be made durable in time; send it again',
};

/** `POST /v1/webhooks/:projectId`: HTTP on one side, `ingest` on the other. */
export function receive(deps: ReceiveDeps): RequestHandler<{ projectId?: string }> {
  const refusals = new Refusals();
  const refused = (code: string, message: string) =>
    errorAnswer(503, code, message, retryLater(refusals.stayAwayAtMost(performance.now())));
  return async (request, response) => {
    const startedAt = performance.now();
    const correlationId = correlationIdOf(request.get('x-correlation-id'), newId);
    const projectId = request.params.projectId?.toLowerCase() ?? '';
    const inbound = {
      projectId,
      headers: (name: string) => headerOf(request, name),
      rawHeaders: request.rawHeaders,
      query: queryOf(request),
      remoteAddr: request.ip ?? null,
      correlationId,
      receivedAt: Date.now(),
    };
    const done = (outcome: string, answer: Answer, id?: string, bytes?: number) => {
      const durationMs = performance.now() - startedAt;
      const { statusCode } = answer;
      deps.report({ outcome, statusCode, projectId, id, bytes, correlationId, durationMs });
    };

    if (!isUuid(projectId)) {
      const answer = invalidProjectId(projectId);
      refuseBody(request, response, answer, correlationId);
      return done('rejected', answer);
    }
    const read = await deps.bodies.read(request);
    switch (read.kind) {
      case 'aborted':
        return;
      case 'too_large': {
        deps.recordTooLarge(inbound, read.bytes);
        const answer = errorAnswer(413, 'body.too_large', 'The body is larger than this relay accepts');
        refuseBody(request, response, answer, correlationId);
        return done('rejected', answer, undefined, read.bytes);
      }
      case 'overloaded': {
        const answer = refused('receiver.overloaded', 'Too much is being received; send it again');
        refuseBody(request, response, answer, correlationId);
        return done('failed_to_queue', answer);
      }
      case 'read': {
        const { body } = read;
        const work = deps.ingest({ ...inbound, body }).finally(() => deps.bodies.release(body.length));
        const result = await inTime(work);
        const isRefused = result.kind === 'unavailable' && result.code !== undecided.code;
        const answer = isRefused ? refused(result.code, result.message) : answerOf(result);
        sendAnswer(response, answer, correlationId);
        done(outcomeOf(result), answer, 'id' in result ? result.id : undefined, body.length);
      }
    }
  };
}

async function inTime(work: Promise<IngestResult>): Promise<IngestResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<IngestResult>((resolve) => {
    timer = setTimeout(() => resolve(undecided), answerWithinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

function answerOf(result: IngestResult): Answer {
  switch (result.kind) {
    case 'queued':
      return { statusCode: 202, body: { id: result.id, status: 'queued' } };
    case 'replayed':
      return {
        statusCode: 202,
        body: { id: result.id, status: 'queued' },
        headers: { 'Idempotent-Replayed': 'true' },
      };
    case 'conflict':
      return errorAnswer(
        409,
        'webhook.conflict',
        `This id was accepted before with another body, as ${result.id}`,
      );
    case 'rate_limited':
      return errorAnswer(429, 'project.rate_limited', 'The project is over its rate limit', {
        'Retry-After': String(Math.max(1, Math.ceil(result.retryAfterMs / 1_000))),
      });
    case 'bad_request':
      return errorAnswer(400, result.code, result.message);
    case 'unauthorized':
      return errorAnswer(
        401,
        'signature.invalid',
        'The signature is missing or wrong, or there is no such project',
      );
    case 'unavailable':
      return errorAnswer(503, result.code, result.message, retryLater());
  }
}

function outcomeOf(result: IngestResult): string {
  switch (result.kind) {
    case 'replayed':
      return 'duplicate';
    case 'bad_request':
    case 'unauthorized':
      return 'rejected';
    case 'unavailable':
      return 'failed_to_queue';
    case 'queued':
    case 'conflict':
    case 'rate_limited':
      return result.kind;
  }
}

function invalidProjectId(projectId: string): Answer {
  return projectId === ''
    ? errorAnswer(400, 'project.missing', 'The URL ends in a project id: /v1/webhooks/<projectId>')
    : errorAnswer(400, 'project.invalid_id', 'The project id is not a UUID');
}

function headerOf(request: Request<{ projectId?: string }>, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function queryOf(request: Request<{ projectId?: string }>): string {
  const start = request.originalUrl.indexOf('?');
  return start === -1 ? '' : request.originalUrl.slice(start + 1);
}
