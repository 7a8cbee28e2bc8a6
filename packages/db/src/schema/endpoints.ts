import { boolean, index, integer, pgEnum, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { projects } from './projects.ts';

/** Who disabled an endpoint: the relay after a 410 (it is still owed webhooks), or a person (it is owed none). */
export const disabledBy = pgEnum('disabled_by', ['relay', 'person']);

export const onDeadLetter = pgEnum('on_dead_letter', ['continue', 'hold']);

export const endpoints = pgTable(
  'endpoints',
  {
    id: uuid().primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'restrict' }),
    url: text().notNull(),
    /** Empty is all. */
    eventTypes: text('event_types').array().notNull().default([]),
    retrySchedule: text('retry_schedule').array().notNull(),
    timeoutMs: integer('timeout_ms').notNull(),
    enabled: boolean().notNull().default(true),
    disabledBy: disabledBy('disabled_by'),
    disabledReason: text('disabled_reason'),
    paused: boolean().notNull().default(false),
    /** Never unset: an archived endpoint is disabled and hidden, and its rows are kept. */
    archivedAt: timestamp('archived_at', { withTimezone: true, precision: 3 }),
    /** How fast deliveries that were held while it was paused or disabled are released, per second. */
    releaseRate: integer('release_rate').notNull().default(100),
    orderingKey: text('ordering_key'),
    onDeadLetter: onDeadLetter('on_dead_letter').notNull().default('continue'),
    forwardCredentials: boolean('forward_credentials').notNull().default(false),
    /** Fixed headers as JSON pairs, AES-256-GCM, bound to `endpoints.headers:<id>`; null is none. */
    sealedHeaders: text('sealed_headers'),
    headersKeyId: text('headers_key_id'),
    /** PEM of the authorities that its certificate may be of; null is the system's. */
    caCertificates: text('ca_certificates'),
    /** `{certificate, key}` (PEM) as JSON, AES-256-GCM, bound to `endpoints.tls:<id>`; null is none. */
    sealedClientCertificate: text('sealed_client_certificate'),
    clientCertificateKeyId: text('client_certificate_key_id'),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [index('endpoints_project').on(table.projectId)],
);
