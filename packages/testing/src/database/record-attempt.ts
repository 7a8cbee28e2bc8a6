import { appendAudit, type DeliveryAttemptRow } from '@hqrelay/db/queries/append-audit';
import { deliveryId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { freshId } from '../fresh-id.ts';

/** Commits the row of a delivery's attempt as a worker does: by default the first one, failed. Returns the delivery's id. */
export async function recordAttempt(
  pool: pg.Pool,
  attempt: Pick<DeliveryAttemptRow, 'projectId' | 'webhookLogId' | 'endpointId'> &
    Partial<DeliveryAttemptRow>,
): Promise<string> {
  const row = {
    id: freshId(),
    deliveryId: deliveryId(attempt.webhookLogId, attempt.endpointId),
    lane: 'live' as const,
    attemptNum: 1,
    status: 'failed' as const,
    statusCode: 503,
    latencyMs: 12,
    error: 'HTTP 503',
    responseBody: 'busy',
    correlationId: 'test',
    nextAttemptAt: Date.now() + 1_800_000,
    ...attempt,
  };
  await appendAudit(pool, [{ kind: 'attempt', attempt: row }]);
  return row.deliveryId;
}
