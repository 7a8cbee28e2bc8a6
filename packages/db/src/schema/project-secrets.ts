import { index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { projects } from './projects.ts';

/** The secrets that a provider signs with. Several may be active at once during a rotation. */
export const projectSecrets = pgTable(
  'project_secrets',
  {
    id: uuid().primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'restrict' }),
    /** AES-256-GCM under the key `key_id`, bound to `project_secrets:<id>`. */
    sealed: text().notNull(),
    keyId: text('key_id').notNull(),
    /** Null never expires. */
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }),
    revokedAt: timestamp('revoked_at', { withTimezone: true, precision: 3 }),
    lastVerifiedAt: timestamp('last_verified_at', { withTimezone: true, precision: 3 }),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [index('project_secrets_project').on(table.projectId)],
);
