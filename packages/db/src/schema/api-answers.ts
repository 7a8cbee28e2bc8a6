import { index, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** What POSTs with an `Idempotency-Key` were answered, for 24 hours. */
export const apiAnswers = pgTable(
  'api_answers',
  {
    /** The id of an API key or of a session. */
    callerId: uuid('caller_id').notNull(),
    idempotencyKey: text('idempotency_key').notNull(),
    /** Hex, over the method, the path and the body. */
    requestSha256: text('request_sha256').notNull(),
    /** Null until the request has its answer. */
    statusCode: integer('status_code'),
    /** JSON, sealed because an answer may contain a new secret; bound to `api_answers:<caller>:<idempotency key>`. */
    sealedAnswer: text('sealed_answer'),
    keyId: text('key_id'),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.callerId, table.idempotencyKey] }),
    index('api_answers_age').on(table.createdAt),
  ],
);
