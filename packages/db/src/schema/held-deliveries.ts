import { sql } from 'drizzle-orm';
import { index, integer, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

export const holdReason = pgEnum('hold_reason', ['delay', 'paused', 'disabled', 'order', 'breaker']);

/** Deliveries that wait here instead of in the broker. Rows come and go. */
export const heldDeliveries = pgTable(
  'held_deliveries',
  {
    deliveryId: uuid('delivery_id').primaryKey(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    endpointId: uuid('endpoint_id').notNull(),
    /** The attempt it waits for. */
    attemptNum: integer('attempt_num').notNull().default(1),
    orderingKey: text('ordering_key'),
    reason: holdReason().notNull(),
    dueAt: timestamp('due_at', { withTimezone: true, precision: 3 }).notNull(),
    heldAt: timestamp('held_at', { withTimezone: true, precision: 3 }).notNull(),
    /** The work queue that its message is published to on release. */
    queue: text().notNull(),
    /** The whole message, so that a release needs nothing that retention may have dropped. */
    message: bytea().notNull(),
  },
  (table) => [
    index('held_deliveries_due').on(table.reason, table.dueAt),
    // Oldest first: the time of a webhook is inside its id.
    index('held_deliveries_endpoint')
      .on(table.endpointId, table.webhookLogId)
      .where(sql`reason in ('paused', 'disabled', 'breaker')`),
    index('held_deliveries_timed')
      .on(table.endpointId, table.webhookLogId)
      .where(sql`reason in ('delay', 'order')`),
    index('held_deliveries_webhook').on(table.webhookLogId),
  ],
);
