import { appendAudit, type WebhookLogRow, type WebhookPayloadRow } from '@hqrelay/db/queries/append-audit';
import { holdDeliveries, type HeldDelivery } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '../fresh-id.ts';
import type pg from 'pg';

/** Commits the rows of a webhook as a receiver does: by default `queued`, owed to no endpoint. Returns its id. */
export async function recordWebhook(
  pool: pg.Pool,
  log: Pick<WebhookLogRow, 'projectId'> & Partial<WebhookLogRow>,
  payload: WebhookPayloadRow | null = { payload: Buffer.from('{}'), headers: [], query: '' },
): Promise<string> {
  const id = log.id ?? freshId();
  const row = {
    id,
    webhookId: `evt-${id}`,
    eventType: null,
    status: 'queued' as const,
    reason: null,
    endpointIds: [],
    duplicateOf: null,
    payloadSha256: null,
    payloadBytes: 2,
    remoteAddr: null,
    correlationId: 'test',
    ...log,
  };
  await appendAudit(pool, [{ kind: 'webhook', log: row, payload }]);
  return id;
}

/** Holds the first attempt of a webhook as a worker does, from `now` on (ms since epoch). */
export async function holdWebhook(
  pool: pg.Pool,
  held: Pick<HeldDelivery, 'webhookLogId' | 'endpointId' | 'reason' | 'dueAt' | 'message'>,
  now: number,
): Promise<void> {
  const { webhookLogId, endpointId } = held;
  const fixed = { attemptNum: 1, orderingKey: null, queue: 'hqrelay.webhooks' };
  await holdDeliveries(pool, [{ ...fixed, deliveryId: deliveryId(webhookLogId, endpointId), ...held }], now);
}
