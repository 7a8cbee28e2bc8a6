import { boolean, index, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { projects } from './projects.ts';

export const apiRole = pgEnum('api_role', ['viewer', 'operator', 'admin']);

/** The keys of programs that use the HTTP API. A key itself is shown once, when it is made. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    /** Hex SHA-256 of the key, which has 256 random bits. */
    keySha256: text('key_sha256').notNull().unique(),
    role: apiRole().notNull(),
    /** The one project that it sees; null sees all. */
    projectId: uuid('project_id').references(() => projects.id, { onDelete: 'restrict' }),
    /** Whether bodies, headers and queries of webhooks and the answers of endpoints are hidden from it. */
    hidePayloads: boolean('hide_payloads').notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
    revokedAt: timestamp('revoked_at', { withTimezone: true, precision: 3 }),
    /** To the minute. */
    lastUsedAt: timestamp('last_used_at', { withTimezone: true, precision: 3 }),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [index('api_keys_project').on(table.projectId)],
);
