import { isUuid } from '@hqrelay/domain/ids';
import type { Logger } from '@hqrelay/runtime/logger';
import type { Request, Response } from 'express';
import { errorAnswer, refuseBody, retryLater, sendAnswer, type Answer } from './answer.ts';
import type { IngestResult, InboundRequest } from '../ingest/inbound-request.ts';
import { inboundOf } from './inbound-of.ts';
import { answerOf, outcomeOf } from './ingest-answer.ts';
import type { BodyRead, BodyReader } from './body/read-body.ts';
import { Refusals } from './refusals.ts';
import type { Report } from '../report.ts';

export type ReceiveDeps = {
  bodies: BodyReader;
  /** What providers that sign the URL post to, without a path. */
  publicUrl: string;
  ingest: (request: InboundRequest) => Promise<IngestResult>;
  /** Records a body that was refused for its size, before any of it was verified; false beyond the budget of rejections. */
  recordTooLarge: (request: Omit<InboundRequest, 'body'>, bytes: number) => boolean;
  /** Whether the budget of rejections has room for the log line of a request that was refused before its project was looked up. */
  mayLogRefusal: (now: number) => boolean;
  report: Report;
  logger: Logger;
};

type Handled = {
  answer: Answer;
  outcome: string;
  /** Whether the body was read to its end. */
  isRead: boolean;
  /** Whether the request gets a log line. Undefined: if the budget of rejections has room. */
  isLogged?: boolean | undefined;
  id?: string | undefined;
  bytes?: number;
};

/** Senders give up after 3 s. Work that is unfinished by then continues, and decides the answer to the provider's retry. */
const answerWithinMs = 2_300;

const undecided = {
  kind: 'unavailable' as const,
  code: 'webhook.undecided',
  message: 'The webhook could not be made durable in time; send it again',
};

const tooSlow = errorAnswer(408, 'request.timeout', 'The body did not arrive in time');
const absurdChunks = errorAnswer(
  400,
  'body.absurd_chunks',
  'The body is sent in too many chunks of a few bytes',
);

/** The answer to a bug of the relay, which counts like every other webhook that was not taken. */
const failed = (): Handled => ({
  answer: errorAnswer(503, 'receiver.failed', 'Something failed here; send it again', retryLater()),
  outcome: 'failed_to_queue',
  isRead: false,
  isLogged: true,
});

/** `projectId`: the last part of the path, as it was sent. */
export type WebhookHandler = (request: Request, response: Response, projectId: string) => Promise<void>;

/** `POST /v1/webhooks/:projectId`: HTTP on one side, `ingest` on the other. */
export function receive(deps: ReceiveDeps): WebhookHandler {
  const refusals = new Refusals();
  return async (request, response, givenProjectId) => {
    const startedAt = performance.now();
    const inbound = inboundOf(request, response, givenProjectId, deps.publicUrl);
    let handled: Handled | null;
    try {
      handled = await handle(deps, refusals, request, inbound);
    } catch (error) {
      deps.logger.error({ err: error as Error }, 'receiver.failed');
      handled = failed();
    }
    if (!handled) return;
    const { answer, outcome, isRead, id, bytes, isLogged = deps.mayLogRefusal(inbound.receivedAt) } = handled;
    const { projectId, correlationId, receivedAt } = inbound;
    if (isRead) sendAnswer(response, answer, correlationId);
    else refuseBody(request, response, answer, correlationId);
    const durationMs = performance.now() - startedAt;
    deps.report({
      outcome,
      statusCode: answer.statusCode,
      projectId,
      id,
      bytes,
      correlationId,
      receivedAt,
      traceparent: inbound.headers('traceparent'),
      durationMs,
      isLogged,
    });
  };
}

/** Reads the body into `inbound`. Null when the sender closed the connection before its body was complete. */
async function handle(
  deps: ReceiveDeps,
  refusals: Refusals,
  request: Request,
  inbound: InboundRequest,
): Promise<Handled | null> {
  if (!isUuid(inbound.projectId)) {
    return { answer: invalidProjectId(inbound.projectId), outcome: 'rejected', isRead: false };
  }
  const read = await deps.bodies.read(request, inbound.remoteAddr ?? '');
  if (read.kind !== 'read') return handleUnread(deps, refusals, inbound, read);
  inbound.body = read.body;
  const result = await ingestInTime(deps, inbound, answerWithinMs - read.waitedMs);
  const isRefused = result.kind === 'unavailable' && result.code !== undecided.code;
  return {
    answer: isRefused ? unavailable(refusals, result.code, result.message) : answerOf(result),
    outcome: outcomeOf(result),
    isRead: true,
    isLogged: isLoggedAs(result),
    id: 'id' in result ? result.id : undefined,
    bytes: read.body.length,
  };
}

function handleUnread(
  deps: ReceiveDeps,
  refusals: Refusals,
  inbound: InboundRequest,
  read: Exclude<BodyRead, { kind: 'read' }>,
): Handled | null {
  switch (read.kind) {
    case 'aborted':
      return null;
    case 'too_large': {
      const isLogged = deps.recordTooLarge(inbound, read.bytes);
      const answer = errorAnswer(413, 'body.too_large', 'The body is larger than this relay accepts');
      return { answer, outcome: 'rejected', isRead: false, isLogged, bytes: read.bytes };
    }
    case 'overloaded': {
      const message = 'Too much is being received; send it again';
      const answer = unavailable(refusals, 'receiver.overloaded', message);
      return { answer, outcome: 'failed_to_queue', isRead: read.isRead };
    }
    case 'too_slow':
      return { answer: tooSlow, outcome: 'rejected', isRead: false };
    case 'absurd_chunks':
      return { answer: absurdChunks, outcome: 'rejected', isRead: false };
  }
}

/** Undefined where nothing may have been verified. */
function isLoggedAs(result: IngestResult): boolean | undefined {
  if (result.kind === 'handshake') return undefined;
  if (result.kind === 'unavailable' && result.code === 'project.unavailable') return undefined;
  return 'isRecorded' in result ? result.isRecorded : true;
}

/** Not `withTimeout`: the deadline is an answer here, and a rejection is a bug that must stay visible on either side of it. */
function ingestInTime(deps: ReceiveDeps, inbound: InboundRequest, withinMs: number): Promise<IngestResult> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve(undecided);
    }, withinMs);
    const end = () => {
      clearTimeout(timer);
      deps.bodies.release(inbound.body.length);
    };
    deps.ingest(inbound).then(
      (result) => {
        end();
        resolve(result);
      },
      (error: unknown) => {
        end();
        // In time, `receive` logs it.
        if (isLate) deps.logger.error({ err: error as Error }, 'receiver.failed');
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/** A 503 whose `Retry-After` grows with the outage. */
function unavailable(refusals: Refusals, code: string, message: string): Answer {
  return errorAnswer(503, code, message, retryLater(refusals.retryAfterMaxSeconds(performance.now())));
}

function invalidProjectId(projectId: string): Answer {
  return projectId === ''
    ? errorAnswer(400, 'project.missing', 'The URL ends in a project id: /v1/webhooks/<projectId>')
    : errorAnswer(400, 'project.invalid_id', 'The project id is not a UUID');
}
