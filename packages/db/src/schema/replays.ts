import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** Append-only, partitioned by month on `requested_at`, which is the time inside `id`. */
export const replays = pgTable(
  'replays',
  {
    id: uuid().notNull(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    endpointId: uuid('endpoint_id').notNull(),
    requestedBy: text('requested_by').notNull(),
    /** Null for a replay that is of no job. */
    jobId: uuid('job_id'),
    requestedAt: timestamp('requested_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.requestedAt] }),
    index('replays_webhook').on(table.webhookLogId),
    index('replays_job')
      .on(table.jobId)
      .where(sql`job_id is not null`),
  ],
);
