import { boolean, index, integer, jsonb, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const replayJobState = pgEnum('replay_job_state', ['running', 'finished', 'cancelled']);

/** Replays of many deliveries, which workers make in batches at a rate. */
export const replayJobs = pgTable(
  'replay_jobs',
  {
    id: uuid().primaryKey(),
    /** Null when its dead letters are of several projects. */
    projectId: uuid('project_id'),
    /** Which deliveries, as `ReplaySelection` in queries/replay-selection.ts describes them. */
    selection: jsonb().notNull(),
    ratePerSecond: integer('rate_per_second').notNull(),
    requestedBy: text('requested_by').notNull(),
    state: replayJobState().notNull().default('running'),
    /** How many deliveries it selected when it was created; at least that many when `count_capped`. */
    count: integer().notNull(),
    countCapped: boolean('count_capped').notNull(),
    replayed: integer().notNull().default(0),
    /** How many could not be replayed, by reason. */
    notReplayed: jsonb('not_replayed').notNull().default({}),
    /** The last row that a batch has read; null before the first batch. */
    cursorAt: timestamp('cursor_at', { withTimezone: true, precision: 3 }),
    cursorId: uuid('cursor_id'),
    /** When the next replay may be due. */
    nextDueAt: timestamp('next_due_at', { withTimezone: true, precision: 3 }).notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    endedAt: timestamp('ended_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [index('replay_jobs_project').on(table.projectId, table.id)],
);
