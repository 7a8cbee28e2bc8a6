import type { InboundRequest } from './inbound-request.ts';
import type { IngestDeps } from './ingest.ts';
import { logRowOf } from './log-row.ts';

/** Records a body that was refused for its size, within the budget of rejections, and returns whether it did. */
export function recordTooLarge(
  deps: Pick<IngestDeps, 'recordLater' | 'mayRecordRejection' | 'isKnownProject'>,
  request: Omit<InboundRequest, 'body'>,
  bytes: number,
): boolean {
  const projectId = deps.isKnownProject(request.projectId) ? request.projectId : null;
  if (!deps.mayRecordRejection(projectId, request.receivedAt)) return false;
  const webhookId = request.headers('x-webhook-id')?.slice(0, 255) ?? '';
  const webhook = {
    request: { ...request, body: Buffer.alloc(0) },
    webhookId,
    eventType: null,
    payloadSha256: '',
  };
  const log = {
    ...logRowOf(webhook, 'rejected'),
    reason: 'body.too_large',
    payloadSha256: null,
    payloadBytes: Math.min(bytes, 2 ** 31 - 1),
  };
  deps.recordLater({ kind: 'webhook', log, payload: null });
  return true;
}
