import { bigint, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

/** Messages that the broker could not take, published in order of `seq` when it is available again. */
export const outbox = pgTable(
  'outbox',
  {
    /** The webhook's id or the delivery's attempt: duplicates of one message are one row. */
    id: uuid().primaryKey(),
    seq: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    exchange: text().notNull(),
    routingKey: text('routing_key').notNull(),
    message: bytea().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [index('outbox_seq').on(table.seq)],
);
