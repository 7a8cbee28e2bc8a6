import type { Postgres } from '@hqrelay/db/postgres';
import { insertOutbox } from '@hqrelay/db/queries/outbox';
import { markWhenPublishedAgain } from '@hqrelay/domain/delivery/duplicates';
import { longestRung } from '@hqrelay/domain/delivery/retry-schedule';
import { publicationId } from '@hqrelay/domain/ids';
import { ByteSemaphore } from '@hqrelay/flow/byte-semaphore';
import { encodeMessage, type DeliveryFields, type Message } from '@hqrelay/queue/messages';
import { encodeParked, type Parked } from '@hqrelay/queue/parked';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { deadLetterQueue, delayName, workExchange, type WorkQueue } from '@hqrelay/queue/topology';
import { retryUntilStored } from './retry-until-stored.ts';

export type OutgoingDeps = { publisher: Publisher; postgres: Postgres };

/**
 * Bounds the memory of outgoing messages. Each is in memory up to three times: as received, as encoded, and in the socket's
 * buffer; and when an endpoint fails, all of its deliveries are published at once.
 */
const outgoingBytes = new ByteSemaphore(16 << 20);
const outboxTimeoutMs = 2_000;
/** Recording the attempt uses up some of the delay: a rung may be longer than the remaining delay by this. */
const rungSlackMs = 200;

export function workQueueOf(lane: DeliveryFields['lane']): WorkQueue {
  switch (lane) {
    case 'live':
      return 'hqrelay.webhooks';
    case 'retry':
      return 'hqrelay.retries';
    case 'replay':
      return 'hqrelay.replays';
  }
}

/** Longer delays are held in Postgres. */
export const delayInBrokerMaxMs = 3_600_000;

/** Publishes to a work queue. True when the broker or the outbox has the message. */
export function send(deps: OutgoingDeps, queue: WorkQueue, message: Message): Promise<boolean> {
  return publishOrSpill(deps, { exchange: workExchange, routingKey: queue }, message, encodeMessage);
}

/** Publishes to a work queue through the longest rung of the delay ladder that is not longer than `remainingMs`. */
export function sendLater(
  deps: OutgoingDeps,
  queue: WorkQueue,
  message: Message,
  remainingMs: number,
): Promise<boolean> {
  const exchange = delayName(longestRung(remainingMs + rungSlackMs).name);
  return publishOrSpill(deps, { exchange, routingKey: queue }, message, encodeMessage);
}

/** Publishes to the dead letters, with the reason for an operator. False when the broker does not take it. */
export async function park(
  deps: OutgoingDeps,
  kind: Parked['kind'],
  reason: string,
  content: Buffer,
): Promise<boolean> {
  const body = encodeParked({ v: 1, kind, reason }, content);
  const result = await deps.publisher.publish({ exchange: '', routingKey: deadLetterQueue, body });
  return result.kind === 'confirmed';
}

/** Publishes a dead letter. True when the broker or the outbox has it. */
export function sendDeadLetter(deps: OutgoingDeps, message: Message, reason: string): Promise<boolean> {
  return publishOrSpill(deps, { exchange: '', routingKey: deadLetterQueue }, message, (given) =>
    encodeParked({ v: 1, kind: 'delivery', reason }, encodeMessage(given)),
  );
}

/**
 * Confirmed by the broker, or committed to the outbox. What is not confirmed at once is marked: the broker or the outbox may have
 * it all the same, and the outbox may publish it twice. The id of the outbox's row is derived from its delivery, attempt and
 * mark, so a message that spills again is one row, and a message with the mark to resume is never replaced by one without it.
 */
function publishOrSpill(
  deps: OutgoingDeps,
  target: { exchange: string; routingKey: string },
  message: Message,
  encode: (message: Message) => Buffer,
): Promise<boolean> {
  let sent = message;
  const publish = async () => {
    const result = await deps.publisher.publish({ ...target, body: encode(sent) });
    if (result.kind === 'confirmed') return true;
    sent = markedAsPublishedAgain(message);
    const row = { ...target, id: outboxIdOf(target.exchange, sent), message: encode(sent) };
    const stored = await deps.postgres.tryWithin(outboxTimeoutMs, (pool) => insertOutbox(pool, row));
    return stored !== undefined;
  };
  return retryUntilStored(() => outgoingBytes.run(message.body.length, publish));
}

function markedAsPublishedAgain({ envelope, body }: Message): Message {
  return { envelope: { ...envelope, mayBeDuplicate: markWhenPublishedAgain(envelope.mayBeDuplicate) }, body };
}

function outboxIdOf(exchange: string, { envelope }: Message): string {
  const { delivery, id, mayBeDuplicate } = envelope;
  return publicationId(
    delivery?.deliveryId ?? id,
    delivery?.attemptNum ?? 0,
    `${exchange} ${mayBeDuplicate}`,
  );
}
