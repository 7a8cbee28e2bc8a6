const configuration = ['projects', 'project_secrets', 'endpoints', 'endpoint_secrets'];
const audit = ['webhook_logs', 'webhook_payloads', 'delivery_attempts', 'replays', 'admin_log'];
const state = [
  'held_deliveries',
  'outbox',
  'idempotency_keys',
  'dead_letters',
  'endpoint_breakers',
  'endpoint_releases',
  'replay_jobs',
  'stranded_search',
  'received_statistics',
  'attempt_statistics',
  'statistics_stale',
  'statistics_progress',
  'webhook_search_values',
  'search_progress',
  'delivery_decisions',
  'ordering_keys',
  'ordered_deliveries',
  'insight_summaries',
  'insight_usage',
];
const alerts = [
  'alert_rules',
  'alert_states',
  'alert_messages',
  'alert_attempts',
  'alert_sendings',
  'backlog_samples',
];
const api = ['api_keys', 'api_answers', 'console_links', 'sessions'];
const views = ['delivery_status', 'replay_status'];

/** Every table and view of the schema. A partition is reached through its parent alone. */
export const relations: readonly string[] = [
  ...configuration,
  ...audit,
  ...state,
  ...alerts,
  ...api,
  ...views,
];
/** What the worker and the console read: the worker none of the tables of the API. */
const everything = [...configuration, ...audit, ...state, ...alerts, ...views].join(', ');

/** Columns that hold encrypted secrets or hashes of what may be one. `hqrelay_reader` reads every other column. */
export const secretColumns: Readonly<Record<string, readonly string[]>> = {
  projects: ['sealed_settings'],
  project_secrets: ['sealed'],
  endpoint_secrets: ['sealed'],
  endpoints: ['sealed_headers', 'sealed_client_certificate'],
  api_keys: ['key_sha256'],
  api_answers: ['sealed_answer', 'request_sha256'],
  console_links: ['token_sha256'],
  sessions: ['token_sha256'],
  alert_rules: ['sealed_channel'],
};

const ensurePartition = 'hqrelay_ensure_partition(timestamptz)';
const dropPayloads = 'hqrelay_drop_payloads(timestamptz, uuid, integer)';
const eraseWebhook = 'hqrelay_erase_webhook(uuid, text)';

/** The functions that a role may call only with a grant. */
export const functions: readonly string[] = [ensurePartition, dropPayloads, eraseWebhook];

/**
 * The group roles and what each may do, as the first half of a GRANT. A row lock (FOR UPDATE, FOR NO KEY UPDATE) needs UPDATE
 * on one column, and ON CONFLICT needs SELECT on the columns that it compares.
 */
export const groupRoles = {
  hqrelay_receiver: [
    `select on ${configuration.join(', ')}, webhook_logs, idempotency_keys`,
    'insert on webhook_logs, webhook_payloads',
    'insert, update on idempotency_keys',
    'select (id), insert, update (message) on outbox',
    'select, insert, update on ordering_keys',
    'insert on ordered_deliveries',
    // It asks whether a message, an attempt or a held delivery of an accepted webhook exists.
    'select (webhook_log_id, attempted_at) on delivery_attempts',
    'select (webhook_log_id) on held_deliveries',
    'insert on statistics_stale',
    'update (last_received_at) on projects',
    'update (last_verified_at) on project_secrets',
    `execute on function ${ensurePartition}`,
  ],
  hqrelay_worker: [
    `select on ${everything}`,
    // Also the receiver's rows, which wait in RabbitMQ while Postgres is down.
    'insert on webhook_logs, webhook_payloads, delivery_attempts, replays, admin_log, dead_letters',
    'insert, update, delete on held_deliveries, outbox, endpoint_breakers, ordered_deliveries',
    'insert, update on endpoint_releases, stranded_search, ordering_keys',
    'insert, delete on received_statistics, attempt_statistics, statistics_stale',
    'update on statistics_progress, search_progress',
    'insert on webhook_search_values',
    'update (replay_id, replayed_at) on dead_letters',
    'update (state, replayed, not_replayed, cursor_at, cursor_id, next_due_at, ended_at) on replay_jobs',
    // It locks expired keys before it deletes them.
    'delete, update (expires_at) on idempotency_keys',
    // The alerts, and whether their channels work.
    'insert on alert_messages, alert_attempts',
    'insert, update, delete on alert_states, alert_sendings',
    'insert, delete on backlog_samples',
    'update (failures, failing_since, last_error, last_sent_at) on alert_rules',
    // After a 410; a trigger then raises the version of the project, which the worker locks first.
    'update (enabled, disabled_by, disabled_reason) on endpoints',
    'update (config_version) on projects',
    `execute on function ${ensurePartition}, ${dropPayloads}`,
  ],
  hqrelay_console: [
    `select on ${everything}, ${api.join(', ')}`,
    `insert, update on ${api.join(', ')}`,
    'delete on api_answers, console_links',
    `insert, update on ${configuration.join(', ')}, replay_jobs`,
    'insert on admin_log, replays',
    'insert, update on delivery_decisions, alert_rules, insight_usage',
    // A test is a message; a rule that is removed loses its open alerts and its messages that are not sent, and a new address gets
    // those that wait at once.
    'insert on alert_messages',
    'insert, delete, update (due_at) on alert_sendings',
    'delete on alert_states',
    'insert, delete on insight_summaries',
    // A retry rewrites the message of a held delivery, and a cancelled delivery is held no longer and keeps no turn.
    'insert, update, delete on held_deliveries',
    'delete on ordered_deliveries',
    'update (replay_id, replayed_at) on dead_letters',
    `execute on function ${ensurePartition}, ${eraseWebhook}`,
  ],
  hqrelay_reader: [],
} as const satisfies Record<string, readonly string[]>;

export type GroupRole = keyof typeof groupRoles;
