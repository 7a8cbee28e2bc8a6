import { integer, pgEnum, pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';

export const breakerState = pgEnum('breaker_state', ['closed', 'open', 'half_open']);

/** The breakers of endpoints that failed lately, shared by all workers. An endpoint without a row has a closed breaker. */
export const endpointBreakers = pgTable('endpoint_breakers', {
  endpointId: uuid('endpoint_id').primaryKey(),
  state: breakerState().notNull(),
  /** Consecutive ones. */
  failures: integer().notNull(),
  failingSince: timestamp('failing_since', { withTimezone: true, precision: 3 }),
  openedAt: timestamp('opened_at', { withTimezone: true, precision: 3 }),
  /** When one delivery may try it again. */
  probeAt: timestamp('probe_at', { withTimezone: true, precision: 3 }),
  intervalMs: integer('interval_ms').notNull(),
  /** When it last closed after it had been open. */
  closedAt: timestamp('closed_at', { withTimezone: true, precision: 3 }),
  updatedAt: timestamp('updated_at', { withTimezone: true, precision: 3 }).notNull(),
});
