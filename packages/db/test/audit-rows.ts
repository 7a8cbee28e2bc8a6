import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import type {
  AuditRow,
  DeliveryAttemptRow,
  WebhookLogRow,
  WebhookPayloadRow,
} from '../src/queries/append-audit.ts';

/** A `queued` webhook of a project and an endpoint of its own, with the given fields. */
export function webhookRow(
  log: Partial<WebhookLogRow> = {},
  payload: Partial<WebhookPayloadRow> | null = {},
): Extract<AuditRow, { kind: 'webhook' }> {
  const id = log.id ?? freshId();
  return {
    kind: 'webhook',
    log: {
      id,
      projectId: freshId(),
      webhookId: `evt-${id}`,
      eventType: 'payment.captured',
      status: 'queued',
      reason: null,
      endpointIds: [freshId()],
      duplicateOf: null,
      payloadSha256: 'ab'.repeat(32),
      payloadBytes: 2,
      remoteAddr: '192.0.2.1',
      correlationId: 'test',
      ...log,
    },
    payload: payload && { payload: Buffer.from('{}'), headers: [], query: '', ...payload },
  };
}

/** The first attempt of a webhook's delivery to the first endpoint that it owes, failed, with the given fields. */
export function attemptRow(
  webhook: Pick<WebhookLogRow, 'id' | 'projectId' | 'endpointIds'>,
  attempt: Partial<DeliveryAttemptRow> = {},
): Extract<AuditRow, { kind: 'attempt' }> {
  const endpointId = attempt.endpointId ?? webhook.endpointIds[0]!;
  return {
    kind: 'attempt',
    attempt: {
      id: freshId(),
      deliveryId: deliveryId(webhook.id, endpointId),
      webhookLogId: webhook.id,
      projectId: webhook.projectId,
      endpointId,
      lane: 'live',
      attemptNum: 1,
      status: 'failed',
      statusCode: 503,
      latencyMs: 12,
      error: 'HTTP 503',
      responseBody: 'busy',
      correlationId: 'test',
      nextAttemptAt: null,
      ...attempt,
    },
  };
}
