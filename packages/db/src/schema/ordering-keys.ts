import { sql } from 'drizzle-orm';
import { bigint, boolean, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';

/** The last sequence of each key of an ordered endpoint. A transaction that adds to a key locks its row until the commit. */
export const orderingKeys = pgTable(
  'ordering_keys',
  {
    endpointId: uuid('endpoint_id').notNull(),
    orderingKey: text('ordering_key').notNull(),
    lastSequence: bigint('last_sequence', { mode: 'number' }).notNull(),
    /** Whether deliveries of the key have no sequence yet: later ones get theirs after them. */
    hasUnsequenced: boolean('has_unsequenced').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.endpointId, table.orderingKey] }),
    index('ordering_keys_unsequenced')
      .on(table.endpointId, table.orderingKey)
      .where(sql`has_unsequenced`),
  ],
);
