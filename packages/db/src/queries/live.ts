import type { Queryable } from '../queryable.ts';
import type { DeliveryAttemptRow } from './append-audit.ts';
import type { Webhook } from './webhooks.ts';

type LiveWebhook = Pick<
  Webhook,
  'id' | 'webhookId' | 'eventType' | 'status' | 'reason' | 'payloadBytes' | 'requestCount' | 'correlationId'
>;

type LiveAttempt = Pick<
  DeliveryAttemptRow,
  | 'id'
  | 'deliveryId'
  | 'webhookLogId'
  | 'endpointId'
  | 'lane'
  | 'attemptNum'
  | 'status'
  | 'statusCode'
  | 'latencyMs'
  | 'error'
>;

export type LiveEvent =
  { kind: 'webhook'; at: Date; fact: LiveWebhook } | { kind: 'attempt'; at: Date; fact: LiveAttempt };

const webhookFact = `id, webhook_id as "webhookId", event_type as "eventType", status, reason, payload_bytes as "payloadBytes",
  request_count as "requestCount", correlation_id as "correlationId"`;
const attemptFact = `id, delivery_id as "deliveryId", webhook_log_id as "webhookLogId", endpoint_id as "endpointId", lane,
  attempt_num as "attemptNum", status, status_code as "statusCode", latency_ms as "latencyMs", error`;

/** The newest webhooks and attempts of a project since `from` (ms since epoch), at most `rowsMax` of each, the oldest first. */
export async function readLive(
  client: Queryable,
  projectId: string,
  { from, rowsMax }: { from: number; rowsMax: number },
): Promise<LiveEvent[]> {
  const read = async <Fact>(table: string, at: string, fact: string) => {
    const { rows } = await client.query<Fact & { at: Date }>(
      `select ${fact}, ${at} as at from ${table} where project_id = $1 and ${at} >= $2 order by ${at} desc, id desc limit ${rowsMax}`,
      [projectId, new Date(from)],
    );
    return rows;
  };
  const webhooks = await read<LiveWebhook>('webhook_logs', 'received_at', webhookFact);
  const attempts = await read<LiveAttempt>('delivery_attempts', 'attempted_at', attemptFact);
  return [
    ...webhooks.map(({ at, ...fact }): LiveEvent => ({ kind: 'webhook', at, fact })),
    ...attempts.map(({ at, ...fact }): LiveEvent => ({ kind: 'attempt', at, fact })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}
