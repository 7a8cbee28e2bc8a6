import { contextOfWebhook, parseTraceparent, providerContext } from '@hqrelay/domain/delivery/trace-context';
import { newId } from '@hqrelay/domain/ids';
import type { PublishResult } from '@hqrelay/queue/publishing/publish-channel';
import type { EndedSpan } from '@hqrelay/runtime/tracing/spans';
import type { Received } from './report.ts';

/** A webhook by its id, with the headers that its message carries. */
export type PublishedWebhook = { id: string; headers: readonly (readonly [string, string])[] };

/** The span of an accepted webhook has the webhook's ids, so that the worker can continue its trace. */
export function receiveSpan(line: Omit<Received, 'isLogged' | 'bytes'>): EndedSpan {
  const { receivedAt, outcome, id, statusCode, durationMs } = line;
  const provider = parseTraceparent(line.traceparent);
  const isFirst = outcome === 'queued' && id !== undefined;
  const repeats = !isFirst && id !== undefined && !provider ? [contextOfWebhook(id, undefined)] : [];
  return {
    name: 'webhook.receive',
    kind: 'server',
    context: contextOfWebhook(isFirst ? id : newId(receivedAt), provider),
    parentSpanId: provider?.spanId,
    links: repeats,
    startedAt: receivedAt,
    endedAt: receivedAt + durationMs,
    attributes: {
      'hqrelay.webhook.id': id,
      'hqrelay.project.id': line.projectId,
      'hqrelay.outcome': outcome,
      'hqrelay.correlation_id': line.correlationId,
      'http.request.method': 'POST',
      'http.route': '/v1/webhooks/:projectId',
      'http.response.status_code': statusCode,
    },
    error: statusCode >= 500 ? outcome : undefined,
  };
}

export function publishSpan(
  result: PublishResult,
  durationMs: number,
  { id, headers }: PublishedWebhook,
): EndedSpan {
  const endedAt = Date.now();
  const receipt = contextOfWebhook(id, providerContext(headers));
  return {
    name: 'webhook.publish',
    kind: 'producer',
    context: { ...receipt, spanId: contextOfWebhook(newId(endedAt), undefined).spanId },
    parentSpanId: receipt.spanId,
    startedAt: endedAt - durationMs,
    endedAt,
    attributes: {
      'hqrelay.webhook.id': id,
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': 'hqrelay.webhooks',
      'messaging.operation.type': 'send',
    },
    error: result.kind === 'confirmed' ? undefined : result.reason,
  };
}
