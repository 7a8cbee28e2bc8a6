import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';
import { webhookStatus } from './webhook-logs.ts';

/** The start of a bucket: half an hour of UTC. */
const bucketAt = () => timestamp('bucket_at', { withTimezone: true, precision: 3 }).notNull();

/** How many requests of a project each bucket has, by the status of their webhooks. */
export const receivedStatistics = pgTable(
  'received_statistics',
  {
    projectId: uuid('project_id').notNull(),
    bucketAt: bucketAt(),
    status: webhookStatus().notNull(),
    requests: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.bucketAt, table.status] }),
    index('received_statistics_bucket').on(table.bucketAt),
  ],
);

/**
 * The attempts of each bucket by endpoint. A histogram is pairs of a slot (`hqrelay_latency_slot`, two bytes) and how many values it
 * has (four bytes), so that one behind the other is their sum.
 */
export const attemptStatistics = pgTable(
  'attempt_statistics',
  {
    projectId: uuid('project_id').notNull(),
    bucketAt: bucketAt(),
    endpointId: uuid('endpoint_id').notNull(),
    delivered: integer().notNull(),
    failed: integer().notNull(),
    deadLettered: integer('dead_lettered').notNull(),
    attemptHistogram: bytea('attempt_histogram').notNull(),
    /** From the receipt of the webhook to the end of the attempt that delivered it, replays aside. */
    endToEndHistogram: bytea('end_to_end_histogram').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.bucketAt, table.endpointId] }),
    index('attempt_statistics_bucket').on(table.bucketAt),
  ],
);

/**
 * Buckets to be counted again. Each transaction that writes late rows inserts marks of its own, so that a mark becomes visible
 * together with its rows and no writer waits for another.
 */
export const statisticsStale = pgTable('statistics_stale', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  bucketAt: bucketAt(),
});

/** One row: the period whose buckets are counted. */
export const statisticsProgress = pgTable('statistics_progress', {
  /** Always 1. */
  id: smallint().primaryKey(),
  countedFrom: timestamp('counted_from', { withTimezone: true, precision: 3 }).notNull(),
  countedTo: timestamp('counted_to', { withTimezone: true, precision: 3 }).notNull(),
  /** True when there is no row before `countedFrom`. */
  isBackfilled: boolean('is_backfilled').notNull().default(false),
});
