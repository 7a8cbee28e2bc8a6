import { index, integer, pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';

/**
 * What people decided about deliveries. A message in a delay queue cannot be removed, so workers read the decision before they
 * post a message, and the views show it. `admin_log` says who decided.
 */
export const deliveryDecisions = pgTable(
  'delivery_decisions',
  {
    deliveryId: uuid('delivery_id').primaryKey(),
    webhookLogId: uuid('webhook_log_id').notNull(),
    endpointId: uuid('endpoint_id').notNull(),
    projectId: uuid('project_id').notNull(),
    /** The attempt that a person asked for at once. Its message has `retry_at` as its `notBefore`, and replaces every other. */
    retryAttemptNum: integer('retry_attempt_num'),
    retryAt: timestamp('retry_at', { withTimezone: true, precision: 3 }),
    /** No further attempt is made. */
    cancelledAt: timestamp('cancelled_at', { withTimezone: true, precision: 3 }),
    /** Until then the broker may have a message that the decision made needless; null where it had none. */
    inBrokerUntil: timestamp('in_broker_until', { withTimezone: true, precision: 3 }),
  },
  (table) => [index('delivery_decisions_webhook').on(table.webhookLogId)],
);
