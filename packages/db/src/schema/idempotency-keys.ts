import { index, pgEnum, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const idempotencyState = pgEnum('idempotency_state', ['reserved', 'seen', 'retryable']);

/** The reservations of webhook ids while Redis is unavailable. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    projectId: uuid('project_id').notNull(),
    webhookId: text('webhook_id').notNull(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    /** Hex. */
    payloadSha256: text('payload_sha256').notNull(),
    state: idempotencyState().notNull(),
    /** The request that holds the reservation. */
    token: uuid().notNull(),
    reservedAt: timestamp('reserved_at', { withTimezone: true, precision: 3 }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.webhookId] }),
    index('idempotency_keys_expiry').on(table.expiresAt),
  ],
);
