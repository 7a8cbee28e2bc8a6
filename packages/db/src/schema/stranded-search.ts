import { pgTable, smallint, uuid } from 'drizzle-orm/pg-core';

/** One row: how far the search for stranded webhooks has come. Each webhook is looked at once, so it is put back at most once. */
export const strandedSearch = pgTable('stranded_search', {
  /** Always 1. */
  id: smallint().primaryKey(),
  /** All webhooks up to this id have been looked at. */
  lastId: uuid('last_id').notNull(),
});
