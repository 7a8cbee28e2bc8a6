import { index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { endpoints } from './endpoints.ts';

/** The secrets that sign an endpoint's deliveries (`whsec_…`). */
export const endpointSecrets = pgTable(
  'endpoint_secrets',
  {
    id: uuid().primaryKey(),
    endpointId: uuid('endpoint_id')
      .notNull()
      .references(() => endpoints.id, { onDelete: 'restrict' }),
    /** AES-256-GCM under the key `key_id`, bound to `endpoint_secrets:<id>`. */
    sealed: text().notNull(),
    keyId: text('key_id').notNull(),
    /** Null never expires. */
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [index('endpoint_secrets_endpoint').on(table.endpointId)],
);
