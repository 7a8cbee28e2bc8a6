import type { DeliveryHistory } from '@hqrelay/domain/delivery/duplicates';
import type pg from 'pg';

/** How far a worker's clock may be behind the receiver's: its rows may be in the partition before the webhook's. */
const clockSkewMaxMs = 86_400_000;

export type DeliveryKey = {
  webhookLogId: string;
  deliveryId: string;
  /** ms since epoch. */
  receivedAt: number;
};

type AttemptRow = {
  place: number;
  attempt_num: number;
  status: 'delivered' | 'failed' | 'dead_lettered';
  error: string | null;
  next_attempt_at: Date | null;
};

/**
 * The recorded histories of deliveries, in their order, from the partitions since the earliest webhook's month. Throws when
 * Postgres fails.
 */
export async function readDeliveryHistories(
  pool: pg.Pool,
  deliveries: readonly DeliveryKey[],
): Promise<DeliveryHistory[]> {
  const earliest = Math.min(...deliveries.map(({ receivedAt }) => receivedAt));
  return readSince(pool, deliveries, new Date(earliest - clockSkewMaxMs));
}

/** The recorded history of one delivery, from every partition, for workers whose clocks are hours apart. */
export async function readHistoryOfAnyTime(pool: pg.Pool, delivery: DeliveryKey): Promise<DeliveryHistory> {
  const [history] = await readSince(pool, [delivery], '-infinity');
  return history!;
}

async function readSince(
  pool: pg.Pool,
  deliveries: readonly DeliveryKey[],
  since: Date | '-infinity',
): Promise<DeliveryHistory[]> {
  const { rows } = await pool.query<AttemptRow>(
    `select d.place::int as place, a.attempt_num, a.status, a.error, a.next_attempt_at
     from unnest($1::uuid[], $2::uuid[]) with ordinality as d (webhook_log_id, delivery_id, place)
     join delivery_attempts a on a.webhook_log_id = d.webhook_log_id and a.delivery_id = d.delivery_id and a.attempted_at >= $3
     order by a.attempt_num desc`,
    [
      deliveries.map(({ webhookLogId }) => webhookLogId),
      deliveries.map((delivery) => delivery.deliveryId),
      since,
    ],
  );
  const byPlace = new Map<number, AttemptRow[]>();
  for (const row of rows) byPlace.set(row.place, [...(byPlace.get(row.place) ?? []), row]);
  return deliveries.map((_, index) => historyOf(byPlace.get(index + 1) ?? []));
}

/** `rows`: the last attempt first. */
function historyOf(rows: readonly AttemptRow[]): DeliveryHistory {
  const [last] = rows;
  return {
    finished: rows.some((row) => row.status !== 'failed'),
    lastAttemptNum: last?.attempt_num ?? 0,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    nextAttemptAt: last?.next_attempt_at?.getTime() ?? null,
  };
}
