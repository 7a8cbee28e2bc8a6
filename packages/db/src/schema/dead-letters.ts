import { sql } from 'drizzle-orm';
import { index, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

export const deadLetterKind = pgEnum('dead_letter_kind', ['delivery', 'message', 'audit_row']);

/** The messages of `hqrelay.dead-letter`: deliveries that used up their schedule, and messages that no worker could read. */
export const deadLetters = pgTable(
  'dead_letters',
  {
    /** The delivery's id; for anything else an id derived from its bytes, so that it is written once. */
    id: uuid().primaryKey(),
    kind: deadLetterKind().notNull(),
    reason: text().notNull(),
    /** The next three are null where the bytes do not name them. */
    projectId: uuid('project_id'),
    webhookLogId: uuid('webhook_log_id'),
    endpointId: uuid('endpoint_id'),
    /** The bytes of a message or audit row. Null for a delivery: its payload is its webhook's. */
    content: bytea(),
    deadAt: timestamp('dead_at', { withTimezone: true, precision: 3 }).notNull(),
    /** Its last replay; null before the first. */
    replayId: uuid('replay_id'),
    /** Without a replay: when its payload was erased. */
    replayedAt: timestamp('replayed_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    index('dead_letters_project_webhook').on(table.projectId, table.webhookLogId),
    index('dead_letters_webhook').on(table.webhookLogId),
    index('dead_letters_project').on(table.projectId, table.deadAt),
    index('dead_letters_endpoint').on(table.endpointId, table.deadAt),
    index('dead_letters_open')
      .on(table.deadAt)
      .where(sql`replayed_at is null`),
    index('dead_letters_open_endpoint')
      .on(table.endpointId, table.deadAt)
      .where(sql`replayed_at is null`),
  ],
);
