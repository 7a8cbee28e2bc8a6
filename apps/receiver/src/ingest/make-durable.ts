import type { AuditRecorder, RecordOutcome } from '@hqrelay/audit/audit-recorder';
import { insertOutbox } from '@hqrelay/db/queries/outbox';
import type { OutboxRow } from '@hqrelay/db/queries/append-audit';
import type { Postgres } from '@hqrelay/db/postgres';
import { encodeMessage } from '@hqrelay/queue/messages';
import type { Publisher, PublishResult } from '@hqrelay/queue/publisher';
import { workExchange } from '@hqrelay/queue/topology';
import type { Admitted } from '../reservation/admit.ts';
import type { VerifiedWebhook } from './inbound-request.ts';
import { logRowOf, payloadRowOf } from './log-row.ts';

export type MakeDurableDeps = {
  publisher: Publisher;
  recorder: AuditRecorder;
  postgres: Postgres;
  onPublished: (result: PublishResult, durationMs: number) => void;
};

export type DurableOutcome = { kind: 'durable' } | { kind: 'failed'; reason: string };

const outboxTimeoutMs = 600;

/**
 * The message confirmed by the broker, or committed to the outbox; and its rows committed, or confirmed by the queue of
 * spilled ones. Durable is both.
 */
export async function makeDurable(
  deps: MakeDurableDeps,
  webhook: VerifiedWebhook,
  admitted: Admitted,
  endpointIds: string[],
): Promise<DurableOutcome> {
  const { request, project, headers, credentials } = webhook;
  const log = { ...logRowOf(webhook, 'queued'), id: admitted.id, endpointIds };
  const payload = payloadRowOf(webhook);
  const message = (copy: boolean) =>
    encodeMessage({
      envelope: {
        v: 1,
        id: admitted.id,
        projectId: project.id,
        eventType: webhook.eventType,
        correlationId: request.correlationId,
        endpointIds,
        headers,
        ...(credentials.length > 0 && { credentials }),
        ...(copy && { copy }),
      },
      body: request.body,
    });
  // A copy always: it may be published more than once before a confirm comes.
  const outboxRow = (): OutboxRow => ({
    id: admitted.id,
    exchange: workExchange,
    routingKey: 'hqrelay.webhooks',
    message: message(true),
  });

  if (!deps.publisher.health.isUp) {
    const recorded = await deps.recorder.record({
      kind: 'webhook',
      log,
      payload,
      outbox: outboxRow(),
    });
    if (recorded === 'stored') return { kind: 'durable' };
    // The broker may have come back, or Postgres gone, since it was asked: one try the other way round.
    return confirmed(
      await publish(deps, message(admitted.copy)),
      await deps.recorder.record({ kind: 'webhook', log, payload }),
    );
  }

  const [published, recorded] = await Promise.all([
    publish(deps, message(admitted.copy)),
    deps.recorder.record({ kind: 'webhook', log, payload }),
  ]);
  if (published.kind === 'confirmed' || recorded === 'unavailable') return confirmed(published, recorded);
  const spilled = await storeInOutbox(deps, outboxRow());
  return spilled
    ? { kind: 'durable' }
    : { kind: 'failed', reason: `RabbitMQ: ${published.reason}; outbox: unavailable` };
}

function confirmed(published: PublishResult, recorded: RecordOutcome): DurableOutcome {
  if (published.kind === 'confirmed' && recorded !== 'unavailable') return { kind: 'durable' };
  const broker = published.kind === 'confirmed' ? 'confirmed' : published.reason;
  return { kind: 'failed', reason: `RabbitMQ: ${broker}; audit: ${recorded}` };
}

async function publish(deps: MakeDurableDeps, body: Buffer): Promise<PublishResult> {
  const startedAt = performance.now();
  const result = await deps.publisher.publish({
    exchange: workExchange,
    routingKey: 'hqrelay.webhooks',
    body,
  });
  deps.onPublished(result, performance.now() - startedAt);
  return result;
}

async function storeInOutbox(deps: MakeDurableDeps, row: OutboxRow): Promise<boolean> {
  const stored = await deps.postgres.tryWithin(outboxTimeoutMs, (pool) => insertOutbox(pool, row));
  return stored !== undefined;
}
