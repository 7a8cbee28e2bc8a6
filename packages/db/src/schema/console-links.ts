import { boolean, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { apiRole } from './api-keys.ts';
import { projects } from './projects.ts';

/** Links that sign a browser in to the console, once. A link itself is shown once, when it is made. */
export const consoleLinks = pgTable(
  'console_links',
  {
    id: uuid().primaryKey(),
    /** Hex SHA-256 of the token in the link's fragment, which has 256 random bits. */
    tokenSha256: text('token_sha256').notNull().unique(),
    /** Who signs in, as the maker of the link names them; the actor of their changes is `session:<subject>`. */
    subject: text().notNull(),
    role: apiRole().notNull(),
    /** The one project that its session sees; null sees all. */
    projectId: uuid('project_id').references(() => projects.id, { onDelete: 'restrict' }),
    /** Whether bodies, headers and queries of webhooks and the answers of endpoints are hidden from its session. */
    hidePayloads: boolean('hide_payloads').notNull(),
    /** A path of the console that opens after the sign-in, or an http(s) URL that its pages link back to. */
    returnUrl: text('return_url'),
    /** The actor that made it. */
    createdBy: text('created_by').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [index('console_links_expiry').on(table.expiresAt)],
);
