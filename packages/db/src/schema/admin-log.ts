import { index, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** One row for every change made by the command line, the API, the console or the relay. Append-only. */
export const adminLog = pgTable(
  'admin_log',
  {
    id: uuid().primaryKey(),
    /** `cli:<user>`, `key:<id>`, `session:<subject>` or `relay`. */
    actor: text().notNull(),
    /** `noun.verb`, such as `endpoint.pause`. */
    action: text().notNull(),
    projectId: uuid('project_id'),
    /** The id of what was changed. */
    target: text(),
    /** `before` and `after` of the fields that changed, and what else the action was given; never a secret. */
    details: jsonb().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [
    index('admin_log_project').on(table.projectId, table.id),
    index('admin_log_target').on(table.target, table.id),
  ],
);
