import {
  bigint,
  date,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

/** What a model wrote about the findings of a project. The same question is answered from here. */
export const insightSummaries = pgTable(
  'insight_summaries',
  {
    projectId: uuid('project_id').notNull(),
    /** Derived from all that the model was told. */
    questionId: uuid('question_id').notNull(),
    model: text().notNull(),
    /** Only statements that may be shown. */
    statements: jsonb().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.questionId] })],
);

/** How often a project asked the model on each day of UTC, and what that cost. */
export const insightUsage = pgTable(
  'insight_usage',
  {
    projectId: uuid('project_id').notNull(),
    day: date().notNull(),
    requests: integer().notNull(),
    /** Of questions and answers; those of a request under way are reserved. */
    tokens: bigint({ mode: 'number' }).notNull(),
    /** No request before this: one is under way, or the last one failed. */
    nextAt: timestamp('next_at', { withTimezone: true, precision: 3 }),
    /** Why the last request brought no summary; null while one is under way or after one that did. */
    failure: text(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.day] })],
);
