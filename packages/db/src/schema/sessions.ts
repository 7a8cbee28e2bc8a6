import { index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { consoleLinks } from './console-links.ts';

/** The browsers that are signed in to the console; what each may do is a matter of its link. */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid().primaryKey(),
    /** Unique, so that a link signs in once, also when two requests redeem it at the same moment. */
    linkId: uuid('link_id')
      .notNull()
      .unique()
      .references(() => consoleLinks.id, { onDelete: 'cascade' }),
    /** Hex SHA-256 of the cookie's token, which has 256 random bits. */
    tokenSha256: text('token_sha256').notNull().unique(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    /** To the minute. */
    lastUsedAt: timestamp('last_used_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
    revokedAt: timestamp('revoked_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [index('sessions_age').on(table.createdAt)],
);
