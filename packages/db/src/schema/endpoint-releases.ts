import { pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';

/** How far the release of an endpoint's held deliveries has come, so that all workers together keep to one rate. */
export const endpointReleases = pgTable('endpoint_releases', {
  endpointId: uuid('endpoint_id').primaryKey(),
  /** When the next one may go at the endpoint's release rate. */
  nextAt: timestamp('next_at', { withTimezone: true, precision: 3 }).notNull(),
  /** When those that waited for the breaker were last let go. */
  breakerReleasedAt: timestamp('breaker_released_at', { withTimezone: true, precision: 3 }).notNull(),
});
