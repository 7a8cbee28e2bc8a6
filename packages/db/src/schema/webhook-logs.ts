import {
  boolean,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';

export const webhookStatus = pgEnum('webhook_status', [
  'queued',
  'duplicate',
  'conflict',
  'rate_limited',
  'rejected',
  'failed_to_queue',
]);

/** Append-only, partitioned by month on `received_at`, which is the time inside `id`. */
export const webhookLogs = pgTable(
  'webhook_logs',
  {
    id: uuid().notNull(),
    projectId: uuid('project_id').notNull(),
    webhookId: text('webhook_id').notNull(),
    eventType: text('event_type'),
    status: webhookStatus().notNull(),
    reason: text(),
    /** The endpoints it matched at acceptance that were enabled, or disabled by the relay: what this webhook owes. */
    endpointIds: uuid('endpoint_ids').array().notNull(),
    duplicateOf: uuid('duplicate_of'),
    /** Hex; null when the body was never read to its end. */
    payloadSha256: text('payload_sha256'),
    payloadBytes: integer('payload_bytes').notNull(),
    /** True where the same body under another webhook id is a duplicate of this webhook; else null. */
    bodyIsKey: boolean('body_is_key'),
    remoteAddr: text('remote_addr'),
    correlationId: text('correlation_id').notNull(),
    /** How many requests the row stands for: past a project's wider window one row counts those of a second. */
    requestCount: integer('request_count').notNull().default(1),
    receivedAt: timestamp('received_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.receivedAt] }),
    index('webhook_logs_project_time').on(table.projectId, table.receivedAt),
    // Of the few rows that are not queued, so that the happy path does not maintain it.
    index('webhook_logs_not_queued')
      .on(table.projectId, table.receivedAt)
      .where(sql`status <> 'queued'`),
    // The id first, so that it is found over all projects too.
    index('webhook_logs_by_webhook_id').on(table.webhookId, table.projectId),
    // Of the ids that clients chose. One that the relay made is a UUIDv7, whose time bounds the look-up.
    index('webhook_logs_correlation_id')
      .on(table.correlationId)
      .where(sql`length(correlation_id) <> 36 or substr(correlation_id, 15, 1) <> '7'`),
    index('webhook_logs_body')
      .on(table.projectId, table.payloadSha256)
      .where(sql`body_is_key`),
  ],
);
