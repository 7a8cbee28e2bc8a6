import type { Postgres } from '@hqrelay/db/postgres';
import { endReplayedTurn } from '@hqrelay/db/queries/ended-turns';
import type { PublishHeld } from '@hqrelay/db/queries/held-deliveries';
import {
  endTurns,
  leaveTurn,
  takeTurns,
  type TurnAnswer,
  type TurnRequest,
} from '@hqrelay/db/queries/ordered-turns';
import { releaseFirstOfKeys, type OrderingKey } from '@hqrelay/db/queries/waiting-turns';
import { Batcher } from '@hqrelay/flow/batcher';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { workExchange } from '@hqrelay/queue/topology';
import type { Logger } from '@hqrelay/runtime/logger';
import type { EndTurnDeps } from '../delivery/turn/end-turn.ts';
import type { LeaveTurn, TakeTurnDeps } from '../delivery/turn/take-turn.ts';

export type Turns = Pick<TakeTurnDeps, 'askForTurn' | 'releaseFirst'> &
  EndTurnDeps & { leaveTurn: LeaveTurn };

const timeoutMs = 1_000;
/** A release waits for the broker's confirms in a transaction. */
const releaseTimeoutMs = 5_000;

/** The statements on ordered deliveries, each for many deliveries at once. None of them rejects. */
export function createTurns(postgres: Postgres, publisher: Publisher, logger: Pick<Logger, 'warn'>): Turns {
  const tryWithin = async <T>(ms: number, query: (pool: Postgres['pool']) => Promise<T>) =>
    postgres.tryWithin(ms, query).catch((error: unknown) => {
      // A deadlock, for example: the delivery is held, or the job ends its turn.
      logger.warn({ err: error }, 'turn.statement_failed');
      return undefined;
    });
  const asked = batched<TurnRequest, TurnAnswer | undefined>(async (requests) => {
    const answers = await tryWithin(timeoutMs, (pool) => takeTurns(pool, requests));
    return answers?.value ?? requests.map(() => undefined);
  });
  const ended = batched<string, boolean>(async (deliveryIds) => {
    const done = await tryWithin(timeoutMs, (pool) => endTurns(pool, deliveryIds));
    return deliveryIds.map(() => done !== undefined);
  });
  const released = batched<OrderingKey, number>(async (keys) => {
    const done = await tryWithin(releaseTimeoutMs, (pool) =>
      releaseFirstOfKeys(pool, keys, publishTo(publisher)),
    );
    return keys.map(() => done?.value ?? 0);
  });
  return {
    askForTurn: (request) => asked.add(request),
    leaveKey: async (deliveryId) => (await ended.add(deliveryId)) ?? false,
    leaveKeyAsReplayed: async (deliveryId) =>
      (await tryWithin(timeoutMs, (pool) => endReplayedTurn(pool, deliveryId)))?.value,
    releaseFirst: async (endpointId, key) => void (await released.add({ endpointId, key })),
    leaveTurn: async (attempt) => void (await tryWithin(timeoutMs, (pool) => leaveTurn(pool, attempt))),
  };
}

function batched<Item, Outcome>(run: (items: readonly Item[]) => Promise<readonly Outcome[]>) {
  return new Batcher<Item, Outcome>({
    itemsMax: 200,
    bytesMax: Number.POSITIVE_INFINITY,
    batchesAtOnce: 2,
    bytesWaitingMax: Number.POSITIVE_INFINITY,
    bytesOf: () => 0,
    run,
  });
}

/** To the queue that it was held from: a delivery that waited for its turn is as urgent as it was. */
export function publishTo(publisher: Publisher): PublishHeld {
  return async ({ queue, message }) => {
    const result = await publisher.publish({ exchange: workExchange, routingKey: queue, body: message });
    return result.kind === 'confirmed';
  };
}
