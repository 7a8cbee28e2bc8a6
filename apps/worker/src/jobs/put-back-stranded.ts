import type { Postgres } from '@hqrelay/db/postgres';
import type { RecordedWebhook } from '@hqrelay/db/queries/replays';
import { putBackStranded } from '@hqrelay/db/queries/stranded-webhooks';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { encodeMessage } from '@hqrelay/queue/messages';
import { auditQueue, sizedWorkQueues, workExchange } from '@hqrelay/queue/topology';
import type { Logger } from '@hqrelay/runtime/logger';

export type PutBackStrandedDeps = {
  postgres: Postgres;
  connection: Pick<BrokerConnection, 'health' | 'queueDepths'>;
  logger: Pick<Logger, 'warn'>;
  now: () => number;
};

/** A worker that took a message before then has recorded an attempt by now, or held the delivery. */
const graceMs = 60_000;
/** In one run: 100,000 webhooks. */
const pagesMax = 20;
/** While Postgres is down, deliveries that should be held wait in a delay queue for up to five minutes. */
const afterPostgresMs = 6 * 60_000;

/** `hqrelay.audit` too: its rows may be the attempts that seem to be missing, or webhooks that are not recorded yet. */
const queues = [...sizedWorkQueues, auditQueue];

/**
 * Publishes webhooks that are recorded but that no message carries: the receiver could not store one before it answered 503,
 * or was killed before it answered, and the provider did not retry. Queues are first in, first out: when the work queues
 * were empty at a time, a worker had every message of before. A minute later a webhook of before without an attempt, an outbox
 * row or a held delivery has no message. Nothing is put back while a work queue or the outbox has a backlog. Each run
 * returns how many were put back.
 */
export function createPutBackStranded(
  deps: PutBackStrandedDeps,
): (stopping?: AbortSignal) => Promise<number> {
  const { postgres, connection, logger, now } = deps;
  let emptyAt: number[] = [];
  let restsUntil = 0;
  return async (stopping) => {
    if (postgres.health.state === 'down') {
      restsUntil = now() + afterPostgresMs;
      emptyAt = [];
    }
    if (!postgres.health.isUp || !connection.health.isUp || now() < restsUntil) return 0;
    const observedAt = now();
    const depths = await connection.queueDepths(queues);
    if ([...depths.values()].some((depth) => depth > 0)) return 0;
    const until = emptyAt.findLast((at) => at <= observedAt - graceMs);
    emptyAt = [...emptyAt.filter((at) => at >= (until ?? 0)), observedAt];
    if (until === undefined) return 0;

    for (let pages = 0; pages < pagesMax && !stopping?.aborted; pages += 1) {
      const { putBack, hasMore } = await putBackStranded(postgres.pool, { until, encode });
      for (const id of putBack) logger.warn({ id }, 'webhook.put_back');
      // The webhooks that were put back are a backlog now: the search continues when they are delivered.
      if (putBack.length > 0 || !hasMore) return putBack.length;
    }
    return 0;
  };
}

function encode({ payload, credentials, orderingKeys, ...webhook }: RecordedWebhook) {
  const envelope = {
    v: 1 as const,
    ...webhook,
    ...(credentials && { credentials }),
    ...(orderingKeys && { orderingKeys }),
    // The broker may have stored a message that it did not confirm, and the provider may retry.
    mayBeDuplicate: 'done_if_recorded' as const,
  };
  return {
    exchange: workExchange,
    routingKey: 'hqrelay.webhooks',
    message: encodeMessage({ envelope, body: payload }),
  };
}
