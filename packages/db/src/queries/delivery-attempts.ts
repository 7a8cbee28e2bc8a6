import type pg from 'pg';

export type DeliveryHistory = {
  /** Delivered or dead-lettered: nothing is to be sent any more. */
  finished: boolean;
  /** The highest attempt that has a row; 0 when there is none. */
  lastAttemptNum: number;
  lastStatus: 'delivered' | 'failed' | 'dead_lettered' | null;
  lastError: string | null;
  /** ms since epoch. */
  nextAttemptAt: number | null;
};

const oneHourMs = 3_600_000;

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
 * What is recorded of deliveries, in their order, looked for in the partitions from the earliest webhook's month on. Throws
 * when Postgres fails.
 */
export async function readDeliveryHistories(
  pool: pg.Pool,
  deliveries: readonly DeliveryKey[],
): Promise<DeliveryHistory[]> {
  const since = Math.min(...deliveries.map(({ receivedAt }) => receivedAt)) - oneHourMs;
  const { rows } = await pool.query<AttemptRow>(
    `select d.place::int as place, a.attempt_num, a.status, a.error, a.next_attempt_at
     from unnest($1::uuid[], $2::uuid[]) with ordinality as d (webhook_log_id, delivery_id, place)
     join delivery_attempts a on a.webhook_log_id = d.webhook_log_id and a.delivery_id = d.delivery_id and a.attempted_at >= $3
     order by a.attempt_num desc`,
    [
      deliveries.map(({ webhookLogId }) => webhookLogId),
      deliveries.map((delivery) => delivery.deliveryId),
      new Date(since),
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
