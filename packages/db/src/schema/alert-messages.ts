import { sql } from 'drizzle-orm';
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

export const alertMessageState = pgEnum('alert_message_state', ['firing', 'recovered']);
export const alertAttemptStatus = pgEnum('alert_attempt_status', ['sent', 'failed']);

/** Append-only: every message that a rule, a test or a broken channel made. */
export const alertMessages = pgTable(
  'alert_messages',
  {
    /** UUIDv7; also the id that a callback and a mail carry. */
    id: uuid().primaryKey(),
    /** Null: a mail to the operator. */
    ruleId: uuid('rule_id'),
    projectId: uuid('project_id').notNull(),
    /** A kind of a rule, `test` or `channel_broken`. */
    type: text().notNull(),
    state: alertMessageState().notNull(),
    isReminder: boolean('is_reminder').notNull(),
    endpointId: uuid('endpoint_id'),
    count: integer().notNull(),
    /** May repeat what an endpoint answered. */
    reason: text().notNull(),
    firstAt: timestamp('first_at', { withTimezone: true, precision: 3 }),
    lastAt: timestamp('last_at', { withTimezone: true, precision: 3 }),
    /** Webhooks. */
    firstExampleId: uuid('first_example_id'),
    lastExampleId: uuid('last_example_id'),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    index('alert_messages_project').on(table.projectId, table.createdAt),
    index('alert_messages_operator')
      .on(table.createdAt)
      .where(sql`rule_id is null`),
  ],
);

/** Append-only: every try to send a message. `sent`: the mail server answered 250, or the URL a 2xx. */
export const alertAttempts = pgTable(
  'alert_attempts',
  {
    messageId: uuid('message_id').notNull(),
    /** From 1. */
    attemptNum: integer('attempt_num').notNull(),
    status: alertAttemptStatus().notNull(),
    /** The answer, or the error; one line without secrets. */
    answer: text().notNull(),
    latencyMs: integer('latency_ms').notNull(),
    attemptedAt: timestamp('attempted_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageId, table.attemptNum] })],
);

/** The messages that are still to be sent. A row goes when its message is sent, given up, or its rule is removed. */
export const alertSendings = pgTable(
  'alert_sendings',
  {
    messageId: uuid('message_id').primaryKey(),
    ruleId: uuid('rule_id'),
    /** Of the next try. Later, while a worker is sending it. */
    dueAt: timestamp('due_at', { withTimezone: true, precision: 3 }).notNull(),
    attempts: integer().notNull().default(0),
  },
  (table) => [index('alert_sendings_due').on(table.dueAt)],
);
