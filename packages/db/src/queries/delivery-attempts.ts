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

/** What is recorded of one delivery, looked for in the partitions from its webhook's month on. Throws when Postgres fails. */
export async function readDeliveryHistory(
  pool: pg.Pool,
  delivery: { webhookLogId: string; deliveryId: string; receivedAt: number },
): Promise<DeliveryHistory> {
  const { rows } = await pool.query<{
    attempt_num: number;
    status: 'delivered' | 'failed' | 'dead_lettered';
    error: string | null;
    next_attempt_at: Date | null;
  }>(
    `select attempt_num, status, error, next_attempt_at from delivery_attempts
     where webhook_log_id = $1 and delivery_id = $2 and attempted_at >= $3
     order by attempt_num desc`,
    [delivery.webhookLogId, delivery.deliveryId, new Date(delivery.receivedAt - oneHourMs)],
  );
  const last = rows[0];
  return {
    finished: rows.some((row) => row.status !== 'failed'),
    lastAttemptNum: last?.attempt_num ?? 0,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    nextAttemptAt: last?.next_attempt_at?.getTime() ?? null,
  };
}
