import { isAboutRows, type Postgres } from '@hqrelay/db/postgres';
import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { encodeMessage } from '@hqrelay/queue/messages';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { deadLetterQueue, workExchange } from '@hqrelay/queue/topology';
import type { Logger } from '@hqrelay/runtime/logger';
import { fateOf, type Fate } from '../outgoing/dead-letter.ts';

export type StoreDeadLettersDeps = {
  postgres: Postgres;
  connection: Pick<BrokerConnection, 'health' | 'pullBatches'>;
  publisher: Publisher;
  logger: Pick<Logger, 'warn' | 'error'>;
  now: () => number;
};

type Stored = Extract<Fate, { kind: 'stored' }>;
type PutBack = Extract<Fate, { kind: 'put_back' }>;

const limits = { messagesMax: 200, bytesMax: 4 << 20 };
/** A message that Postgres refuses is requeued, and each time counts against the queue's delivery limit. */
const restMs = 60_000;

/**
 * Empties `hqrelay.dead-letter` into `dead_letters`, a batch in one statement, and puts a message back that reached the
 * delivery limit for the first time. A message is acknowledged after the commit, so after a crash it is written again, which
 * changes nothing. A message that Postgres refuses is logged, stays in the queue, and delays no other. Each run returns how
 * many messages it took.
 */
export function createStoreDeadLetters(
  deps: StoreDeadLettersDeps,
): (stopping?: AbortSignal) => Promise<number> {
  const { postgres, connection, publisher, now } = deps;
  let restsUntil = 0;
  return async (stopping) => {
    if (!postgres.health.isUp || !connection.health.isUp || !publisher.health.isUp || now() < restsUntil)
      return 0;
    let refusedSome = false;
    const taken = await connection.pullBatches(deadLetterQueue, { ...limits, stopping }, async (contents) => {
      const fates = contents.map(fateOf);
      const refused = await store(
        deps,
        fates.filter((fate) => fate.kind === 'stored'),
      );
      refusedSome ||= refused.size > 0;
      return Promise.all(
        fates.map(async (fate) => (fate.kind === 'stored' ? !refused.has(fate) : putBack(deps, fate))),
      );
    });
    if (refusedSome) restsUntil = now() + restMs;
    return taken;
  };
}

/** Bisects a batch that Postgres refuses and returns the refused messages. Throws when the rows are not at fault. */
async function store(deps: StoreDeadLettersDeps, fates: readonly Stored[]): Promise<ReadonlySet<Fate>> {
  if (fates.length === 0) return new Set();
  const letters = fates.flatMap((fate) => fate.letters);
  try {
    await insertDeadLetters(deps.postgres.pool, letters, deps.now());
    return new Set();
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    if (fates.length === 1) {
      const { id, kind, reason } = letters[0]!;
      deps.logger.error({ err: error, id, kind, reason }, 'dead_letter.not_stored');
      return new Set(fates);
    }
    const middle = fates.length >> 1;
    const refused = await store(deps, fates.slice(0, middle));
    return new Set([...refused, ...(await store(deps, fates.slice(middle)))]);
  }
}

async function putBack({ publisher, logger }: StoreDeadLettersDeps, fate: PutBack): Promise<boolean> {
  const { queue, message } = fate;
  const publication = { exchange: workExchange, routingKey: queue, body: encodeMessage(message) };
  const isConfirmed = (await publisher.publish(publication)).kind === 'confirmed';
  if (isConfirmed) logger.warn({ id: message.envelope.id, queue }, 'message.put_back');
  return isConfirmed;
}
