import { isUuid } from '@hqrelay/domain/ids';
import type { HandshakeReply } from '@hqrelay/domain/providers/handshake';
import type { RequestHandler } from 'express';
import type { InboundRequest } from '../ingest/inbound-request.ts';
import { errorAnswer, refuseBody, sendAnswer } from './answer.ts';
import { inboundOf } from './inbound-of.ts';
import { answerOf } from './ingest-answer.ts';
import type { ReceiveDeps } from './receive.ts';

export type ChallengeDeps = Pick<ReceiveDeps, 'publicUrl' | 'report' | 'mayLogRefusal'> & {
  answerChallenge: (request: InboundRequest) => Promise<HandshakeReply | null>;
};

const methodNotAllowed = errorAnswer(405, 'method.not_allowed', 'Webhooks are sent with POST', {
  Allow: 'POST',
});

/** Any method but POST on `/v1/webhooks/:projectId`: a provider's check of the URL with GET or HEAD, else 405. */
export function receiveChallenge(deps: ChallengeDeps): RequestHandler<{ projectId?: string }> {
  return async (request, response) => {
    const startedAt = performance.now();
    const inbound = inboundOf(request, response, request.params.projectId ?? '', deps.publicUrl);
    const { projectId, correlationId, receivedAt, method } = inbound;
    const mayAsk = (method === 'GET' || method === 'HEAD') && isUuid(projectId);
    const reply = mayAsk ? await deps.answerChallenge(inbound) : null;
    if (!reply) return refuseBody(request, response, methodNotAllowed, correlationId);
    const answer = answerOf({ kind: 'handshake', reply });
    sendAnswer(response, answer, correlationId);
    deps.report({
      outcome: 'handshake',
      statusCode: answer.statusCode,
      projectId,
      id: undefined,
      bytes: 0,
      correlationId,
      receivedAt,
      traceparent: inbound.headers('traceparent'),
      durationMs: performance.now() - startedAt,
      isLogged: deps.mayLogRefusal(receivedAt),
    });
  };
}
