import { index, pgTable, primaryKey, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/**
 * The values that payloads have under the search keys of their projects. Partitioned by month on `received_at`, like the payloads;
 * a trigger deletes a webhook's values with its payload.
 */
export const webhookSearchValues = pgTable(
  'webhook_search_values',
  {
    projectId: uuid('project_id').notNull(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    value: text().notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.webhookLogId, table.value, table.receivedAt] }),
    index('webhook_search_values_value').on(table.value, table.projectId, table.receivedAt),
  ],
);

/** One row: how far the payloads are indexed. */
export const searchProgress = pgTable('search_progress', {
  /** Always 1. */
  id: smallint().primaryKey(),
  indexedTo: timestamp('indexed_to', { withTimezone: true, precision: 3 }).notNull(),
  /** The last webhook of that time. */
  lastId: uuid('last_id').notNull(),
});
