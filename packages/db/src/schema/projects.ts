import { bigint, boolean, integer, jsonb, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const onConflict = pgEnum('on_conflict', ['reject', 'duplicate']);
export const sameBody = pgEnum('same_body', ['accept', 'duplicate']);

export const projects = pgTable('projects', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  provider: text().notNull().default('generic'),
  /** Null is unlimited. */
  rateLimitPerMinute: integer('rate_limit_per_minute').default(100),
  idempotencyTtlSeconds: integer('idempotency_ttl_seconds').notNull().default(86_400),
  onConflict: onConflict('on_conflict').notNull().default('reject'),
  requireTimestamp: boolean('require_timestamp').notNull().default(false),
  /** How a webhook counts whose body was accepted under another webhook id. */
  sameBody: sameBody('same_body').notNull().default('accept'),
  /** A signature scheme of the project's own; null takes the provider's. */
  scheme: jsonb(),
  /** The provider's settings as JSON, AES-256-GCM, bound to `projects.settings:<id>`; null is none. */
  sealedSettings: text('sealed_settings'),
  settingsKeyId: text('settings_key_id'),
  /** JSON Pointers, up to five: a webhook is found by the values that its payload has there. */
  searchKeys: text('search_keys').array().notNull().default([]),
  /** Until then workers ask Postgres before first attempts too, because one that waits in a queue was cancelled. */
  firstAttemptsCheckedUntil: timestamp('first_attempts_checked_until', { withTimezone: true, precision: 3 }),
  enabled: boolean().notNull().default(true),
  /** Never unset: an archived project is disabled and hidden, and its rows are kept. */
  archivedAt: timestamp('archived_at', { withTimezone: true, precision: 3 }),
  lastReceivedAt: timestamp('last_received_at', { withTimezone: true, precision: 3 }),
  /** Raised by a trigger at every change of the project, its secrets or its endpoints. */
  configVersion: bigint('config_version', { mode: 'number' }).notNull().default(0),
  createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
});
