import { integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** The alerts that hold, or ended within their window: one row for a rule, a kind and an endpoint (or the project). */
export const alertStates = pgTable(
  'alert_states',
  {
    ruleId: uuid('rule_id').notNull(),
    kind: text().notNull(),
    /** The endpoint, or the project where the kind is about no endpoint. */
    subjectId: uuid('subject_id').notNull(),
    /** When its condition was first seen; null while it does not hold. */
    activeSince: timestamp('active_since', { withTimezone: true, precision: 3 }),
    /** When the last firing message was made. */
    messagedAt: timestamp('messaged_at', { withTimezone: true, precision: 3 }),
    toldCount: integer('told_count').notNull(),
    toldTo: timestamp('told_to', { withTimezone: true, precision: 3 }),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.kind, table.subjectId] })],
);

/** How many deliveries waited for endpoints of projects with a rule about their backlog, of the last hour. */
export const backlogSamples = pgTable(
  'backlog_samples',
  {
    endpointId: uuid('endpoint_id').notNull(),
    sampledAt: timestamp('sampled_at', { withTimezone: true, precision: 3 }).notNull(),
    waiting: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.endpointId, table.sampledAt] })],
);
