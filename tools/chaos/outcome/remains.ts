import { decodeSpill } from '@hqrelay/audit/spill-format';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { delayLadder } from '@hqrelay/domain/delivery/retry-schedule';
import { decodeMessage } from '@hqrelay/queue/messages';
import { decodeParked } from '@hqrelay/queue/parked';
import { auditQueue, deadLetterQueue, delayName, sizedWorkQueues } from '@hqrelay/queue/topology';
import { connect, type Channel } from 'amqplib';
import type { World } from '@hqrelay/testing/world';

/** Messages that the broker and the outbox still hold. Keys are `<webhook>/<endpoint>`. */
export type Remains = {
  /** Deliveries with a message that a worker will still process. */
  waiting: Set<string>;
  /** Deliveries that used up their schedule, in the queue of dead letters or in their table. */
  deadLetters: Set<string>;
  /** Other messages and rows of these: unreadable, refused by Postgres, for an unknown endpoint, over the delivery limit. */
  parked: string[];
  /** Audit rows that are not in the tables yet. */
  spilled: AuditRow[];
  /** How many messages each queue and the outbox still have, where they have any. */
  places: Map<string, number>;
};

const queuesOfWork = [...sizedWorkQueues, ...delayLadder.map((rung) => delayName(rung.name))];
/** Delays that may outlast a row. */
export const queuesOfLater = delayLadder.filter(({ ms }) => ms >= 30_000).map(({ name }) => delayName(name));

/** Messages ready: `soon` are processed within seconds, audit rows included, `late` wait for half a minute or more. */
export async function countReady(rabbitmqUrl: string): Promise<{ soon: number; late: number }> {
  return withChannel(rabbitmqUrl, async (channel) => {
    const ready = { soon: 0, late: 0 };
    for (const queue of [...queuesOfWork, auditQueue]) {
      const { messageCount } = await channel.checkQueue(queue);
      ready[queuesOfLater.includes(queue) ? 'late' : 'soon'] += messageCount;
    }
    return ready;
  });
}

/** Reads all messages and requeues them. Call it when no app runs. */
export async function readRemains(world: World): Promise<Remains> {
  const remains: Remains = {
    waiting: new Set(),
    deadLetters: new Set(),
    parked: [],
    spilled: [],
    places: new Map(),
  };
  await withChannel(world.rabbitmqUrl, async (channel) => {
    for (const queue of queuesOfWork) {
      const contents = await readAll(channel, queue);
      if (contents.length > 0) remains.places.set(queue, contents.length);
      for (const content of contents) addWaiting(remains, content);
    }
    for (const content of await readAll(channel, deadLetterQueue)) addDeadLetter(remains, content);
    const spilled = await readAll(channel, auditQueue);
    if (spilled.length > 0) remains.places.set(auditQueue, spilled.length);
    for (const content of spilled) addSpilled(remains, content);
  });
  for (const letter of await storedDeadLetters(world)) {
    const isUsedUp = letter.isUsedUp || remains.spilled.some((row) => isLastAttempt(row, letter.id));
    if (letter.key !== null && isUsedUp) remains.deadLetters.add(letter.key);
    else remains.parked.push(`${letter.kind}: ${letter.reason}`);
  }
  const { rows } = await world.sql.query<{ message: Buffer }>('select message from outbox');
  if (rows.length > 0) remains.places.set('outbox', rows.length);
  for (const { message } of rows) if (!decodeParked(message)) addWaiting(remains, message);
  return remains;
}

function addWaiting(remains: Remains, content: Buffer): void {
  const decoded = decodeMessage(content);
  if (decoded.kind === 'unreadable') remains.parked.push(decoded.reason);
  else for (const key of keysOf(decoded.message.envelope)) remains.waiting.add(key);
}

function addDeadLetter(remains: Remains, content: Buffer): void {
  const parked = decodeParked(content);
  const decoded = parked?.why.kind === 'delivery' ? decodeMessage(parked.content) : undefined;
  if (decoded?.kind === 'message') {
    for (const key of keysOf(decoded.message.envelope)) remains.deadLetters.add(key);
  } else remains.parked.push(parked ? `${parked.why.kind}: ${parked.why.reason}` : 'over the delivery limit');
}

function addSpilled(remains: Remains, content: Buffer): void {
  const decoded = decodeSpill(content);
  if (decoded.kind === 'spill') remains.spilled.push(...decoded.rows);
  else remains.parked.push(decoded.reason);
}

type StoredDeadLetter = { id: string; kind: string; reason: string; key: string | null; isUsedUp: boolean };

async function storedDeadLetters({ sql }: World): Promise<StoredDeadLetter[]> {
  const { rows } = await sql.query<StoredDeadLetter>(
    `select id, kind, reason, case when kind = 'delivery' then webhook_log_id || '/' || endpoint_id end as key,
       exists (select from delivery_attempts a where a.webhook_log_id = d.webhook_log_id and a.delivery_id = d.id
         and a.status = 'dead_lettered') as "isUsedUp"
     from dead_letters d`,
  );
  return rows;
}

function isLastAttempt(row: AuditRow, deliveryId: string): boolean {
  return (
    row.kind === 'attempt' && row.attempt.deliveryId === deliveryId && row.attempt.status === 'dead_lettered'
  );
}

function keysOf(envelope: {
  id: string;
  endpointIds: string[];
  delivery?: { endpointId: string } | undefined;
}) {
  const endpointIds = envelope.delivery ? [envelope.delivery.endpointId] : envelope.endpointIds;
  return endpointIds.map((endpointId) => `${envelope.id}/${endpointId}`);
}

async function readAll(channel: Channel, queue: string): Promise<Buffer[]> {
  const contents: Buffer[] = [];
  // Unacknowledged, so that the next `get` returns the next message; requeued when the channel closes.
  for (;;) {
    const message = await channel.get(queue, { noAck: false });
    if (!message) return contents;
    contents.push(message.content);
  }
}

async function withChannel<T>(url: string, work: (channel: Channel) => Promise<T>): Promise<T> {
  const connection = await connect(url, { timeout: 5_000 });
  // An error also rejects the call in progress; an unhandled 'error' event would end the process.
  connection.on('error', () => {});
  try {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    return await work(channel);
  } finally {
    // A connection that broke is closed already.
    await connection.close().catch(() => {});
  }
}
