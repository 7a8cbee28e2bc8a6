import type { WebhookLogRow, WebhookPayloadRow } from '@hqrelay/db/queries/append-audit';
import { idFor, type VerifiedWebhook } from './inbound-request.ts';

/** The row of a request, under a new id; or that of an accepted webhook, under the id and to the endpoints that it has. */
export function logRowOf(
  webhook: Pick<VerifiedWebhook, 'request' | 'webhookId' | 'eventType' | 'payloadSha256'>,
  status: WebhookLogRow['status'],
  id = idFor(webhook.request),
  endpointIds: readonly string[] = [],
): WebhookLogRow {
  const { request } = webhook;
  return {
    id,
    projectId: request.projectId,
    webhookId: webhook.webhookId,
    eventType: webhook.eventType,
    status,
    reason: null,
    endpointIds,
    duplicateOf: null,
    payloadSha256: webhook.payloadSha256,
    payloadBytes: request.body.length,
    remoteAddr: request.remoteAddr,
    correlationId: request.correlationId,
  };
}

/** The stored body, headers and query of a webhook. */
export function payloadRowOf({
  request,
  headers,
  query,
  credentials,
}: Pick<VerifiedWebhook, 'request' | 'headers' | 'query' | 'credentials'>): WebhookPayloadRow {
  const row = { payload: request.body, headers, query };
  return credentials.length > 0 ? { ...row, credentials } : row;
}
