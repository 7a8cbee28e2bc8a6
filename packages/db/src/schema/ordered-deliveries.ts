import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core';

/** The deliveries of ordered endpoints that have not ended. The first sequence of a key is the one that may be posted. */
export const orderedDeliveries = pgTable(
  'ordered_deliveries',
  {
    deliveryId: uuid('delivery_id').primaryKey(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    endpointId: uuid('endpoint_id').notNull(),
    orderingKey: text('ordering_key').notNull(),
    /** Null while webhooks that were accepted before it may be missing in Postgres. */
    sequence: bigint({ mode: 'number' }),
    /** When it was accepted, µs since epoch: the order of those that get their sequence later. */
    acceptedAtUs: bigint('accepted_at_us', { mode: 'number' }).notNull(),
    /** The attempt that a worker makes, and until when no other worker posts it. */
    claimedAttempt: integer('claimed_attempt'),
    claimedUntil: timestamp('claimed_until', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    uniqueIndex('ordered_deliveries_turn')
      .on(table.endpointId, table.orderingKey, table.sequence)
      .where(sql`sequence is not null`),
    index('ordered_deliveries_unsequenced')
      .on(table.endpointId, table.orderingKey, table.acceptedAtUs)
      .where(sql`sequence is null`),
  ],
);
