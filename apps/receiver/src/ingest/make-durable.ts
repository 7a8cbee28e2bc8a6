import { setTimeout as wait } from 'node:timers/promises';
import type { RecordOutcome } from '@hqrelay/audit/audit-recorder';
import type { OutboxRow, WebhookRow } from '@hqrelay/db/queries/append-audit';
import { insertOutbox } from '@hqrelay/db/queries/outbox';
import type { Postgres } from '@hqrelay/db/postgres';
import type { OrderingKeys } from '@hqrelay/domain/inbound/ordering-key';
import { owedEndpoints } from '@hqrelay/domain/inbound/owed-endpoints';
import { encodeMessage } from '@hqrelay/queue/messages';
import type { PublishResult } from '@hqrelay/queue/publishing/publish-channel';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { workExchange } from '@hqrelay/queue/topology';
import type { Admitted } from '../reservation/reserve.ts';
import type { VerifiedWebhook } from './inbound-request.ts';
import { logRowOf, payloadRowOf } from './log-row.ts';
import { placeInOrder, recordInOrder, type OrderDeps } from './order/place-in-order.ts';

export type MakeDurableDeps = OrderDeps & {
  publisher: Publisher;
  postgres: Postgres;
  /** The endpoints that an earlier request with this id made the webhook owe; undefined when Postgres does not answer. Never rejects. */
  findOwed: (id: string) => Promise<string[] | null | undefined>;
  onPublished: (
    result: PublishResult,
    durationMs: number,
    webhook: { id: string; headers: readonly (readonly [string, string])[] },
  ) => void;
};

export type DurableOutcome = { kind: 'durable' } | { kind: 'failed'; reason: string };

type Records = {
  message: (mayBeDuplicate: boolean) => Buffer;
  row: WebhookRow;
  mayBeDuplicate: boolean;
  /** Those of the message. */
  headers: readonly (readonly [string, string])[];
};

const routingKey = 'hqrelay.webhooks';
const outboxTimeoutMs = 600;
/** How long the message of an ordered webhook waits for the rows: a worker that has the message first holds the delivery. */
const rowsFirstMs = 250;

/**
 * Step 5. Durable is both: a message that the broker confirmed or the outbox holds, and rows that Postgres committed or the
 * queue of spilled rows holds.
 */
export async function makeDurable(
  deps: MakeDurableDeps,
  webhook: VerifiedWebhook,
  admitted: Admitted,
): Promise<DurableOutcome> {
  const owed = admitted.mayBeDuplicate ? await deps.findOwed(admitted.id) : undefined;
  // What a webhook owes was fixed when it was first accepted, whatever endpoints were added or removed since.
  const endpointIds = owed ?? owedEndpoints(webhook.project.endpoints, webhook.eventType);
  const orderingKeys = webhook.orderingKeysOf(endpointIds);
  const ordering = orderingKeys && (await placeInOrder(deps, webhook.project.id, admitted.id, orderingKeys));
  const log = logRowOf(webhook, 'queued', admitted.id, endpointIds);
  if (webhook.project.sameBody === 'duplicate') log.bodyIsKey = true;
  const records: Records = {
    message: (mayBeDuplicate) =>
      messageOf(webhook, admitted.id, { endpointIds, orderingKeys }, mayBeDuplicate),
    row: { kind: 'webhook', log, payload: payloadRowOf(webhook), ordering },
    mayBeDuplicate: admitted.mayBeDuplicate,
    headers: webhook.headers,
  };
  const make = deps.publisher.mayPublishTo(routingKey) ? publishFirst : outboxFirst;
  return await make(deps, records);
}

async function publishFirst(deps: MakeDurableDeps, records: Records): Promise<DurableOutcome> {
  const recording = recordInOrder(deps, records.row);
  if (records.row.ordering) await Promise.race([recording, wait(rowsFirstMs, undefined, { ref: false })]);
  const [published, recorded] = await Promise.all([publish(deps, records), recording]);
  if (published.kind === 'confirmed' || recorded === 'unavailable') return confirmed(published, recorded);
  const stored = await deps.postgres.tryWithin(outboxTimeoutMs, (pool) =>
    insertOutbox(pool, outboxRowOf(records)),
  );
  return stored
    ? { kind: 'durable' }
    : { kind: 'failed', reason: `RabbitMQ: ${published.reason}; outbox: unavailable` };
}

async function outboxFirst(deps: MakeDurableDeps, records: Records): Promise<DurableOutcome> {
  const recorded = await recordInOrder(deps, { ...records.row, outbox: outboxRowOf(records) });
  if (recorded === 'stored') return { kind: 'durable' };
  // Since the choice was made, the broker may have come up or Postgres gone down: try once the other way round.
  const published = await publish(deps, records);
  return confirmed(published, await recordInOrder(deps, records.row));
}

function confirmed(published: PublishResult, recorded: RecordOutcome): DurableOutcome {
  if (published.kind === 'confirmed' && recorded !== 'unavailable') return { kind: 'durable' };
  const broker = published.kind === 'confirmed' ? 'confirmed' : published.reason;
  return { kind: 'failed', reason: `RabbitMQ: ${broker}; audit: ${recorded}` };
}

async function publish(deps: MakeDurableDeps, records: Records): Promise<PublishResult> {
  const startedAt = performance.now();
  // Not in a variable: it would hold the encoded message until the confirm.
  const result = await deps.publisher.publish({
    exchange: workExchange,
    routingKey,
    body: records.message(records.mayBeDuplicate),
  });
  const { id } = records.row.log;
  deps.onPublished(result, performance.now() - startedAt, { id, headers: records.headers });
  return result;
}

/** Marked as a possible duplicate: a drain may publish it more than once before it gets a confirm. */
function outboxRowOf({ row, message }: Records): OutboxRow {
  return { id: row.log.id, exchange: workExchange, routingKey, message: message(true) };
}

function messageOf(
  { request, project, eventType, headers, credentials }: VerifiedWebhook,
  id: string,
  { endpointIds, orderingKeys }: { endpointIds: string[]; orderingKeys: OrderingKeys | undefined },
  mayBeDuplicate: boolean,
): Buffer {
  return encodeMessage({
    envelope: {
      v: 1,
      id,
      projectId: project.id,
      eventType,
      correlationId: request.correlationId,
      endpointIds,
      headers,
      orderingKeys,
      credentials: credentials.length > 0 ? credentials : undefined,
      mayBeDuplicate: mayBeDuplicate ? 'done_if_recorded' : undefined,
    },
    body: request.body,
  });
}
