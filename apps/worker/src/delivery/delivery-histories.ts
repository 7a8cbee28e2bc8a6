import type { Postgres } from '@hqrelay/db/postgres';
import {
  readDeliveryHistories,
  type DeliveryHistory,
  type DeliveryKey,
} from '@hqrelay/db/queries/delivery-attempts';
import { Batcher } from '@hqrelay/flow/batcher';

/** What is recorded of a delivery; undefined while Postgres is away. */
export type ReadHistory = (delivery: DeliveryKey) => Promise<DeliveryHistory | undefined>;

const askTimeoutMs = 1_000;
/** A copy that is posted unasked is a duplicate at the endpoint: a stall is waited for, an outage is not. */
const patienceMs = 3_000;

/** Those who ask at the same time are answered by one query: after an outage thousands of copies ask at once. */
export function createHistories(postgres: Postgres): ReadHistory {
  const ask = (deliveries: readonly DeliveryKey[]) =>
    postgres.tryWithin(askTimeoutMs, (pool) => readDeliveryHistories(pool, deliveries));
  const batcher = new Batcher<DeliveryKey, DeliveryHistory | undefined>({
    itemsMax: 200,
    bytesMax: Number.POSITIVE_INFINITY,
    batchesAtOnce: 2,
    bytesWaitingMax: Number.POSITIVE_INFINITY,
    bytesOf: () => 0,
    run: async (deliveries) => {
      let answer = await ask(deliveries);
      if (!answer && (await postgres.isBackWithin(patienceMs))) answer = await ask(deliveries);
      return answer?.value ?? deliveries.map(() => undefined);
    },
  });
  return (delivery) => batcher.add(delivery);
}
