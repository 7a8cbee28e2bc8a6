import { sql } from 'drizzle-orm';
import { index, integer, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { projects } from './projects.ts';

export const alertChannel = pgEnum('alert_channel', ['email', 'webhook', 'slack']);

/** What a project is told, and where. A rule that is removed keeps its row, because its messages name it. */
export const alertRules = pgTable(
  'alert_rules',
  {
    id: uuid().primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'restrict' }),
    /** What it alerts on, such as `dead_letter`. */
    kinds: text().array().notNull(),
    channel: alertChannel().notNull(),
    /** Where its messages go, without secrets: an address, or a URL without the values of secret parameters. */
    target: text().notNull(),
    /** `{url, signingSecret?}` as JSON, AES-256-GCM, bound to `alert_rules:<id>`; null for e-mail. */
    sealedChannel: text('sealed_channel'),
    channelKeyId: text('channel_key_id'),
    windowMs: integer('window_ms').notNull(),
    snoozedUntil: timestamp('snoozed_until', { withTimezone: true, precision: 3 }),
    /** Tries in a row that failed. */
    failures: integer().notNull().default(0),
    failingSince: timestamp('failing_since', { withTimezone: true, precision: 3 }),
    lastError: text('last_error'),
    lastSentAt: timestamp('last_sent_at', { withTimezone: true, precision: 3 }),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    removedAt: timestamp('removed_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    index('alert_rules_project')
      .on(table.projectId)
      .where(sql`removed_at is null`),
  ],
);
