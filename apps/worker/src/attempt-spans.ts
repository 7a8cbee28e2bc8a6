import { contextOfWebhook, providerContext, spanIdOf } from '@hqrelay/domain/delivery/trace-context';
import { newId, timeOfId } from '@hqrelay/domain/ids';
import type { EndpointConfig } from '@hqrelay/domain/project-config';
import type { EndedSpan } from '@hqrelay/runtime/tracing/spans';
import type { Delivery } from './delivery/delivery.ts';
import type { Attempt } from './delivery/make-attempt.ts';

/**
 * The spans of an attempt: its wait from when it was due, the attempt itself, and before the first attempt of a replay the
 * replay. All are in the trace of the webhook's receipt.
 */
export function spansOfAttempt(delivery: Delivery, endpoint: EndpointConfig, attempt: Attempt): EndedSpan[] {
  const { envelope, fields, receivedAt } = delivery;
  const { exchange, outcome } = attempt;
  const receipt = contextOfWebhook(envelope.id, providerContext(envelope.headers));
  const startedAt = timeOfId(attempt.id);
  const { replayId } = fields;
  const parentSpanId = replayId === undefined ? receipt.spanId : spanIdOf(replayId);
  const span = (
    id: string,
    named: Pick<EndedSpan, 'name' | 'kind' | 'startedAt' | 'endedAt'>,
  ): EndedSpan => ({
    ...named,
    context: { ...receipt, spanId: spanIdOf(id) },
    parentSpanId,
    attributes: {
      'hqrelay.webhook.id': envelope.id,
      'hqrelay.project.id': envelope.projectId,
      'hqrelay.endpoint.id': endpoint.id,
      'hqrelay.delivery.id': fields.deliveryId,
      'hqrelay.attempt': fields.attemptNum,
      'hqrelay.lane': fields.lane,
      'hqrelay.correlation_id': envelope.correlationId,
    },
  });
  const dueAt = Math.min(startedAt, Math.max(receivedAt, fields.notBefore));
  const wait = span(newId(startedAt), {
    name: 'delivery.wait',
    kind: 'internal',
    startedAt: dueAt,
    endedAt: startedAt,
  });
  const endedAt = startedAt + exchange.latencyMs;
  const posted = span(attempt.id, { name: 'delivery.attempt', kind: 'client', startedAt, endedAt });
  const made: EndedSpan = {
    ...posted,
    attributes: {
      ...posted.attributes,
      'http.request.method': 'POST',
      'http.response.status_code': exchange.kind === 'response' ? exchange.statusCode : undefined,
      'server.address': new URL(endpoint.url).hostname,
    },
    error: outcome.kind === 'delivered' ? undefined : outcome.error,
  };
  if (replayId === undefined || fields.attemptNum > 1) return [wait, made];
  const requestedAt = timeOfId(replayId);
  const replay = span(replayId, {
    name: 'webhook.replay',
    kind: 'internal',
    startedAt: requestedAt,
    endedAt: startedAt,
  });
  return [{ ...replay, parentSpanId: receipt.spanId }, wait, made];
}
