/** What a statement says of rows that exist already: nothing, and it fails, or that they stay as they are. */
export type OnConflict = '' | 'on conflict do nothing';

// One statement for a whole batch: facts travel as one JSON text, bytes as one binary value that is cut at offsets, which
// costs a fraction of a parameter each. Written twice, a row stays one: its id and its time are its producer's.
const batchOfWebhooks = (onConflict: OnConflict, ofOrdered = '') => `batch as materialized (
  select * from json_to_recordset($1::json) as r(id uuid, "projectId" uuid, "webhookId" text, "eventType" text, status webhook_status,
    reason text, "endpointIds" uuid[], "duplicateOf" uuid, "payloadSha256" text, "payloadBytes" int, "bodyIsKey" boolean,
    "remoteAddr" text, "correlationId" text, "requestCount" int, "receivedAt" bigint, "payloadStart" int, "payloadLength" int, headers jsonb, query text, credentials jsonb,
    "outboxId" uuid, exchange text, "routingKey" text, "messageStart" int, "messageLength" int, place int${ofOrdered})
), messages as (
  insert into outbox (id, exchange, routing_key, message, created_at)
  select "outboxId", exchange, "routingKey", substring($2::bytea from "messageStart" + 1 for "messageLength"), now()
  from batch where "outboxId" is not null order by place
  ${onConflict}
), payloads as (
  insert into webhook_payloads (id, payload, headers, query, credentials, received_at)
  select id, substring($2::bytea from "payloadStart" + 1 for "payloadLength"), headers, query, credentials,
    to_timestamp("receivedAt" / 1000.0)
  from batch where "payloadStart" is not null
  ${onConflict}
)`;

const insertLogs = (onConflict: OnConflict) => `
insert into webhook_logs (id, project_id, webhook_id, event_type, status, reason, endpoint_ids, duplicate_of, payload_sha256,
  payload_bytes, body_is_key, remote_addr, correlation_id, request_count, received_at)
select id, "projectId", "webhookId", "eventType", status, reason, coalesce("endpointIds", '{}'), "duplicateOf", "payloadSha256",
  "payloadBytes", "bodyIsKey", "remoteAddr", "correlationId", coalesce("requestCount", 1), to_timestamp("receivedAt" / 1000.0)
from batch
${onConflict}`;

export const insertWebhooks = (onConflict: OnConflict) =>
  batchOfWebhooks(onConflict) + insertLogs(onConflict);

// Only a webhook whose facts are new gets sequences: its row may be written again after its deliveries have ended. Each key's row
// is locked until the commit, so no later sequence of a key is committed before an earlier one; in their order, so that two
// receivers never deadlock.
export const insertOrderedWebhooks = (
  onConflict: OnConflict,
) => `${batchOfWebhooks(onConflict, ', deliveries json, "acceptedAtUs" bigint, "isEarly" boolean')}, logs as (${insertLogs(onConflict)} returning id
), entry as (
  select d."deliveryId", batch.id, d."endpointId", d.key, batch."acceptedAtUs", batch."isEarly"
  from batch join logs using (id)
  cross join lateral json_to_recordset(batch.deliveries) as d("deliveryId" uuid, "endpointId" uuid, key text)
), sequenced as (
  insert into ordering_keys as k (endpoint_id, ordering_key, last_sequence, has_unsequenced)
  select "endpointId", key, case when bool_or("isEarly") then 0 else count(*) end, bool_or("isEarly")
  from entry group by "endpointId", key order by "endpointId", key collate "C"
  on conflict (endpoint_id, ordering_key) do update set has_unsequenced = k.has_unsequenced or excluded.has_unsequenced,
    last_sequence = k.last_sequence + case when k.has_unsequenced then 0 else excluded.last_sequence end
  returning endpoint_id, ordering_key, last_sequence, has_unsequenced
)
insert into ordered_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, accepted_at_us, sequence)
select e."deliveryId", e.id, e."endpointId", e.key, e."acceptedAtUs",
  case when not s.has_unsequenced then s.last_sequence + 1 - row_number() over (
    partition by e."endpointId", e.key order by e."acceptedAtUs" desc, e.id desc) end
from entry e join sequenced s on s.endpoint_id = e."endpointId" and s.ordering_key = e.key`;

export const insertAttempts = (
  onConflict: OnConflict,
) => `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, status_code,
  latency_ms, error, response_body, correlation_id, attempted_at, next_attempt_at)
select id, "deliveryId", "webhookLogId", "projectId", "endpointId", lane, "attemptNum", status, "statusCode", "latencyMs", error,
  "responseBody", "correlationId", to_timestamp("attemptedAt" / 1000.0), to_timestamp("nextAttemptAt" / 1000.0)
from json_to_recordset($1::json) as r(id uuid, "deliveryId" uuid, "webhookLogId" uuid, "projectId" uuid, "endpointId" uuid, lane lane,
  "attemptNum" int, status attempt_status, "statusCode" int, "latencyMs" int, error text, "responseBody" text, "correlationId" text,
  "attemptedAt" bigint, "nextAttemptAt" bigint)
${onConflict}`;
