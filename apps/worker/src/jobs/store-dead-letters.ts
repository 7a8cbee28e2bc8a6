import { isAboutRows, type Postgres } from '@hqrelay/db/postgres';
import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { encodeMessage } from '@hqrelay/queue/messages';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { deadLetterQueue, workExchange } from '@hqrelay/queue/topology';
import type { Logger } from '@hqrelay/runtime/logger';
import { dispositionOf, type Disposition } from '../outgoing/dead-letter.ts';

export type StoreDeadLettersDeps = {
  postgres: Postgres;
  connection: Pick<BrokerConnection, 'health' | 'pullBatches'>;
  publisher: Publisher;
  logger: Pick<Logger, 'warn' | 'error'>;
  now: () => number;
};

type Stored = Extract<Disposition, { kind: 'stored' }>;
type PutBack = Extract<Disposition, { kind: 'put_back' }>;

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
      const dispositions = contents.map(dispositionOf);
      const refused = await store(
        deps,
        dispositions.filter((disposition) => disposition.kind === 'stored'),
      );
      refusedSome ||= refused.size > 0;
      return Promise.all(
        dispositions.map(async (disposition) =>
          disposition.kind === 'stored' ? !refused.has(disposition) : putBack(deps, disposition),
        ),
      );
    });
    if (refusedSome) restsUntil = now() + restMs;
    return taken;
  };
}

/** Bisects a batch that Postgres refuses and returns the refused messages. Throws when the rows are not at fault. */
async function store(
  deps: StoreDeadLettersDeps,
  dispositions: readonly Stored[],
): Promise<ReadonlySet<Disposition>> {
  if (dispositions.length === 0) return new Set();
  const letters = dispositions.flatMap((disposition) => disposition.letters);
  try {
    await insertDeadLetters(deps.postgres.pool, letters, deps.now());
    return new Set();
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    if (dispositions.length === 1) {
      const { id, kind, reason } = letters[0]!;
      deps.logger.error({ err: error, id, kind, reason }, 'dead_letter.not_stored');
      return new Set(dispositions);
    }
    const middle = dispositions.length >> 1;
    const refused = await store(deps, dispositions.slice(0, middle));
    return new Set([...refused, ...(await store(deps, dispositions.slice(middle)))]);
  }
}

async function putBack({ publisher, logger }: StoreDeadLettersDeps, disposition: PutBack): Promise<boolean> {
  const { queue, message } = disposition;
  const publication = { exchange: workExchange, routingKey: queue, body: encodeMessage(message) };
  const isConfirmed = (await publisher.publish(publication)).kind === 'confirmed';
  if (isConfirmed) logger.warn({ id: message.envelope.id, queue }, 'message.put_back');
  return isConfirmed;
}
