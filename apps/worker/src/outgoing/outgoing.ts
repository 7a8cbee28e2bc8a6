import type { Postgres } from '@hqrelay/db/postgres';
import { insertOutbox } from '@hqrelay/db/queries/outbox';
import { publicationId } from '@hqrelay/domain/ids';
import { longestRung } from '@hqrelay/domain/delivery/retry-schedule';
import { encodeMessage, type DeliveryFields, type Message } from '@hqrelay/queue/messages';
import { encodeParked, type Parked } from '@hqrelay/queue/parked';
import type { Publisher } from '@hqrelay/queue/publisher';
import { deadLetterQueue, delayName, workExchange, type WorkQueue } from '@hqrelay/queue/topology';
import { untilTaken } from './until-taken.ts';
import { ByteGate } from './byte-gate.ts';

export type OutgoingDeps = { publisher: Publisher; postgres: Postgres };

/**
 * A message that goes out is in memory two or three times: as it came, encoded anew, and in frames. When an endpoint fails,
 * all of its deliveries do so together.
 */
const copies = new ByteGate(16 << 20);
const outboxTimeoutMs = 2_000;
/** What recording an attempt may have taken of its delay: a rung that is longer by no more than this is as good. */
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

/** To a work queue, at once. True when the broker or the outbox has it. */
export function send(deps: OutgoingDeps, queue: WorkQueue, message: Message): Promise<boolean> {
  return publishOrSpill(deps, { exchange: workExchange, routingKey: queue }, message, encodeMessage);
}

/** To a work queue after the longest rung of the ladder that is not longer than `remainingMs` and a little. */
export function sendLater(
  deps: OutgoingDeps,
  queue: WorkQueue,
  message: Message,
  remainingMs: number,
): Promise<boolean> {
  const exchange = delayName(longestRung(remainingMs + rungSlackMs).name);
  return publishOrSpill(deps, { exchange, routingKey: queue }, message, encodeMessage);
}

/** Where an operator finds it, with the reason. False when the broker did not take it. */
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

/** A dead letter; the outbox takes it while the broker is away. */
export function sendDeadLetter(deps: OutgoingDeps, message: Message, reason: string): Promise<boolean> {
  return publishOrSpill(deps, { exchange: '', routingKey: deadLetterQueue }, message, (given) =>
    encodeParked({ v: 1, kind: 'delivery', reason }, encodeMessage(given)),
  );
}

/**
 * Confirmed by the broker, or committed to the outbox. The outbox row is keyed by the delivery and its attempt, so that a
 * message that is worked on again spills once. What spills is a copy: the broker may have it too, and what drains the outbox
 * may publish it twice.
 */
function publishOrSpill(
  deps: OutgoingDeps,
  target: { exchange: string; routingKey: string },
  message: Message,
  encode: (message: Message) => Buffer,
): Promise<boolean> {
  const { id, delivery } = message.envelope;
  const outboxId = publicationId(delivery?.deliveryId ?? id, delivery?.attemptNum ?? 0, target.exchange);
  const spilled = () => ({ ...message, envelope: { ...message.envelope, copy: true } });
  const publish = async () => {
    const result = await deps.publisher.publish({ ...target, body: encode(message) });
    if (result.kind === 'confirmed') return true;
    const stored = await deps.postgres.tryWithin(outboxTimeoutMs, (pool) =>
      insertOutbox(pool, { id: outboxId, ...target, message: encode(spilled()) }),
    );
    return stored !== undefined;
  };
  return untilTaken(() => copies.pass(message.body.length, publish));
}
