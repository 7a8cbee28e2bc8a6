import { index, integer, pgEnum, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';

export const lane = pgEnum('lane', ['live', 'retry', 'replay']);
export const attemptStatus = pgEnum('attempt_status', ['delivered', 'failed', 'dead_lettered']);

/**
 * Append-only, partitioned by month on `attempted_at`, which is the time inside `id`.
 * Each partition carries a unique index over (webhook_log_id, delivery_id, attempt_num), made by
 * `hqrelay_ensure_partition`: an attempt is one row, however often its message is redelivered.
 */
export const deliveryAttempts = pgTable(
  'delivery_attempts',
  {
    id: uuid().notNull(),
    deliveryId: uuid('delivery_id').notNull(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    projectId: uuid('project_id').notNull(),
    endpointId: uuid('endpoint_id').notNull(),
    lane: lane().notNull(),
    attemptNum: integer('attempt_num').notNull(),
    status: attemptStatus().notNull(),
    /** Null: no answer. */
    statusCode: integer('status_code'),
    latencyMs: integer('latency_ms').notNull(),
    error: text(),
    /** The first 4 KiB, made storable as text. */
    responseBody: text('response_body'),
    correlationId: text('correlation_id').notNull(),
    attemptedAt: timestamp('attempted_at', { withTimezone: true, precision: 3 }).notNull(),
    nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.attemptedAt] }),
    index('delivery_attempts_project_time').on(table.projectId, table.attemptedAt),
    index('delivery_attempts_failures')
      .on(table.endpointId, table.attemptedAt)
      .where(sql`status <> 'delivered'`),
    // A delivery by its id alone, while it waits for its next attempt.
    index('delivery_attempts_failed_delivery')
      .on(table.deliveryId)
      .where(sql`status = 'failed'`),
    // The webhooks whose deliveries have failed, in the order of their lists.
    index('delivery_attempts_failed_webhooks')
      .on(table.projectId, table.webhookLogId)
      .where(sql`status <> 'delivered'`),
  ],
);
