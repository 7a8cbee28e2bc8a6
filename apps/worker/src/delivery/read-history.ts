import type { Postgres } from '@hqrelay/db/postgres';
import {
  readDeliveryHistories,
  readHistoryOfAnyTime,
  type DeliveryKey,
} from '@hqrelay/db/queries/delivery-attempts';
import type { DeliveryHistory } from '@hqrelay/domain/delivery/duplicates';
import { Batcher } from '@hqrelay/flow/batcher';

/** Undefined while Postgres is unavailable. */
export type ReadHistory = (delivery: DeliveryKey) => Promise<DeliveryHistory | undefined>;

const readTimeoutMs = 1_000;
/** A duplicate that is posted without its history may reach the endpoint twice, so it waits for Postgres through a short stall. */
const patienceMs = 3_000;

/** Reads histories in batches: after an outage thousands of messages need theirs at once. */
export function createReadHistory(postgres: Postgres): ReadHistory {
  const read = (deliveries: readonly DeliveryKey[]) =>
    postgres.tryWithin(readTimeoutMs, (pool) => readDeliveryHistories(pool, deliveries));
  const batcher = new Batcher<DeliveryKey, DeliveryHistory | undefined>({
    itemsMax: 200,
    bytesMax: Number.POSITIVE_INFINITY,
    batchesAtOnce: 2,
    bytesWaitingMax: Number.POSITIVE_INFINITY,
    bytesOf: () => 0,
    run: async (deliveries) => {
      let histories = await read(deliveries);
      if (!histories && (await postgres.isBackWithin(patienceMs))) histories = await read(deliveries);
      return histories?.value ?? deliveries.map(() => undefined);
    },
  });
  return (delivery) => batcher.add(delivery);
}

/** Reads the history in every partition: the clock of another worker may have put a row into any month. */
export function createReadHistoryOfAnyTime(postgres: Postgres): ReadHistory {
  return async (delivery) => {
    const read = await postgres.tryWithin(readTimeoutMs, (pool) => readHistoryOfAnyTime(pool, delivery));
    return read?.value;
  };
}
