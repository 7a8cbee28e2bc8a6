import type { DeliveryHistory } from '@hqrelay/domain/delivery/duplicates';
import type { Queryable } from '../queryable.ts';

/** How far a worker's clock may be behind the receiver's: its rows may be in the partition before the webhook's. */
const clockSkewMaxMs = 86_400_000;

export type DeliveryKey = {
  webhookLogId: string;
  deliveryId: string;
  /** ms since epoch. */
  receivedAt: number;
};

type HistoryRow = {
  place: number;
  /** Null in the only row of a delivery that has no attempt. */
  attempt_num: number | null;
  status: 'delivered' | 'failed' | 'dead_lettered';
  error: string | null;
  next_attempt_at: Date | null;
  cancelled_at: Date | null;
  retry_attempt_num: number | null;
  retry_at: Date | null;
};

/**
 * The recorded histories of deliveries, in their order, from the partitions since the earliest webhook's month. Throws when
 * Postgres fails.
 */
export async function readDeliveryHistories(
  client: Queryable,
  deliveries: readonly DeliveryKey[],
): Promise<DeliveryHistory[]> {
  const earliest = Math.min(...deliveries.map(({ receivedAt }) => receivedAt));
  return readSince(client, deliveries, new Date(earliest - clockSkewMaxMs));
}

/** The recorded history of one delivery, from every partition, for workers whose clocks are hours apart. */
export async function readHistoryOfAnyTime(
  client: Queryable,
  delivery: DeliveryKey,
): Promise<DeliveryHistory> {
  const [history] = await readSince(client, [delivery], '-infinity');
  return history!;
}

async function readSince(
  client: Queryable,
  deliveries: readonly DeliveryKey[],
  since: Date | '-infinity',
): Promise<DeliveryHistory[]> {
  const { rows } = await client.query<HistoryRow>(
    `select d.place::int as place, a.attempt_num, a.status, a.error, a.next_attempt_at, x.cancelled_at, x.retry_attempt_num, x.retry_at
     from unnest($1::uuid[], $2::uuid[]) with ordinality as d (webhook_log_id, delivery_id, place)
     left join delivery_attempts a
       on a.webhook_log_id = d.webhook_log_id and a.delivery_id = d.delivery_id and a.attempted_at >= $3
     left join delivery_decisions x on x.delivery_id = d.delivery_id
     order by a.attempt_num desc nulls last`,
    [
      deliveries.map(({ webhookLogId }) => webhookLogId),
      deliveries.map((delivery) => delivery.deliveryId),
      since,
    ],
  );
  const byPlace = new Map<number, HistoryRow[]>();
  for (const row of rows) byPlace.set(row.place, [...(byPlace.get(row.place) ?? []), row]);
  return deliveries.map((_, index) => historyOf(byPlace.get(index + 1) ?? []));
}

/** `rows`: the last attempt first. */
function historyOf(rows: readonly HistoryRow[]): DeliveryHistory {
  const attempts = rows.filter((row) => row.attempt_num !== null);
  const [last] = attempts;
  return {
    ...decisionOf(rows[0]),
    finished: attempts.some((row) => row.status !== 'failed'),
    lastAttemptNum: last?.attempt_num ?? 0,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    nextAttemptAt: last?.next_attempt_at?.getTime() ?? null,
  };
}

function decisionOf(row: HistoryRow | undefined): Pick<DeliveryHistory, 'isCancelled' | 'retryNow'> {
  const {
    cancelled_at: cancelledAt = null,
    retry_attempt_num: attemptNum = null,
    retry_at: at = null,
  } = row ?? {};
  return {
    isCancelled: cancelledAt !== null,
    retryNow: attemptNum === null || at === null ? null : { attemptNum, notBefore: at.getTime() },
  };
}
