import { jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

/** Apart from the facts, so that payloads can be dropped by age while the facts stay. */
export const webhookPayloads = pgTable(
  'webhook_payloads',
  {
    id: uuid().notNull(),
    payload: bytea().notNull(),
    /** Ordered pairs, no credentials. */
    headers: jsonb().$type<[string, string][]>().notNull(),
    query: text().notNull(),
    /** Where secrets of the project stood in credential headers; null is nowhere. */
    credentials: jsonb().$type<unknown[]>(),
    receivedAt: timestamp('received_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.id, table.receivedAt] })],
);
