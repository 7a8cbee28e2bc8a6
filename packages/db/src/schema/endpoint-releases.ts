import { pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';

/** The progress of releasing an endpoint's held deliveries, so that all workers together keep to one rate. */
export const endpointReleases = pgTable('endpoint_releases', {
  endpointId: uuid('endpoint_id').primaryKey(),
  /** When the next one may go at the endpoint's release rate. */
  nextAt: timestamp('next_at', { withTimezone: true, precision: 3 }).notNull(),
  /** When those that waited for the breaker were last released. */
  breakerReleasedAt: timestamp('breaker_released_at', { withTimezone: true, precision: 3 }).notNull(),
});
