-- What was parked before its schedule was used up (nobody could work on it) is dead too, and says why.
CREATE OR REPLACE VIEW delivery_status AS
SELECT
  w.id AS webhook_log_id,
  owed.endpoint_id,
  d.delivery_id,
  CASE
    WHEN a.delivered_at IS NOT NULL THEN 'delivered'
    WHEN a.dead_lettered OR l.id IS NOT NULL THEN 'dead_lettered'
    WHEN h.delivery_id IS NOT NULL THEN 'held'
    ELSE 'waiting'
  END AS state,
  coalesce(a.attempts, 0) AS attempts,
  a.last_status_code,
  a.last_error,
  CASE WHEN a.delivered_at IS NULL AND NOT coalesce(a.dead_lettered, false) AND l.id IS NULL THEN a.next_attempt_at END AS next_attempt_at,
  a.delivered_at,
  h.reason AS held_reason,
  h.due_at AS held_until,
  w.project_id,
  w.webhook_id,
  w.received_at,
  l.reason AS dead_reason,
  l.replayed_at
FROM webhook_logs w
CROSS JOIN LATERAL unnest(w.endpoint_ids) AS owed (endpoint_id)
CROSS JOIN LATERAL hqrelay_delivery_id(w.id, owed.endpoint_id) AS d (delivery_id)
LEFT JOIN LATERAL (
  SELECT
    count(*)::integer AS attempts,
    bool_or(status = 'dead_lettered') AS dead_lettered,
    min(attempted_at + make_interval(secs => latency_ms / 1000.0)) FILTER (WHERE status = 'delivered') AS delivered_at,
    (array_agg(status_code ORDER BY attempt_num DESC))[1] AS last_status_code,
    (array_agg(error ORDER BY attempt_num DESC))[1] AS last_error,
    (array_agg(next_attempt_at ORDER BY attempt_num DESC))[1] AS next_attempt_at
  FROM delivery_attempts
  WHERE webhook_log_id = w.id AND delivery_id = d.delivery_id AND attempted_at >= w.received_at - interval '1 hour'
) AS a ON true
LEFT JOIN held_deliveries h ON h.delivery_id = d.delivery_id
LEFT JOIN dead_letters l ON l.id = d.delivery_id
WHERE w.status = 'queued';
--> statement-breakpoint
-- The delivery id of a replay: the first 16 bytes of SHA-256 over the three ids.
CREATE FUNCTION hqrelay_delivery_id(webhook_log_id uuid, endpoint_id uuid, replay_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT encode(set_byte(set_byte(h, 6, (get_byte(h, 6) & 15) | 128), 8, (get_byte(h, 8) & 63) | 128), 'hex')::uuid
  FROM (SELECT substring(sha256(uuid_send(webhook_log_id) || uuid_send(endpoint_id) || uuid_send(replay_id)) FROM 1 FOR 16) AS h) AS hash
$$;
--> statement-breakpoint
-- One row for every replay, as delivery_status has one for every delivery that webhook_logs owes. Ask with
-- `webhook_log_id`, or `requested_at` to touch only that period's partitions.
CREATE VIEW replay_status AS
SELECT
  r.id AS replay_id,
  r.webhook_log_id,
  r.endpoint_id,
  d.delivery_id,
  CASE
    WHEN a.delivered_at IS NOT NULL THEN 'delivered'
    WHEN a.dead_lettered OR l.id IS NOT NULL THEN 'dead_lettered'
    WHEN h.delivery_id IS NOT NULL THEN 'held'
    ELSE 'waiting'
  END AS state,
  coalesce(a.attempts, 0) AS attempts,
  a.last_status_code,
  a.last_error,
  CASE WHEN a.delivered_at IS NULL AND NOT coalesce(a.dead_lettered, false) AND l.id IS NULL THEN a.next_attempt_at END AS next_attempt_at,
  a.delivered_at,
  h.reason AS held_reason,
  h.due_at AS held_until,
  r.requested_by,
  r.requested_at,
  l.reason AS dead_reason,
  l.replayed_at
FROM replays r
CROSS JOIN LATERAL hqrelay_delivery_id(r.webhook_log_id, r.endpoint_id, r.id) AS d (delivery_id)
LEFT JOIN LATERAL (
  SELECT
    count(*)::integer AS attempts,
    bool_or(status = 'dead_lettered') AS dead_lettered,
    min(attempted_at + make_interval(secs => latency_ms / 1000.0)) FILTER (WHERE status = 'delivered') AS delivered_at,
    (array_agg(status_code ORDER BY attempt_num DESC))[1] AS last_status_code,
    (array_agg(error ORDER BY attempt_num DESC))[1] AS last_error,
    (array_agg(next_attempt_at ORDER BY attempt_num DESC))[1] AS next_attempt_at
  FROM delivery_attempts
  WHERE webhook_log_id = r.webhook_log_id AND delivery_id = d.delivery_id AND attempted_at >= r.requested_at - interval '1 hour'
) AS a ON true
LEFT JOIN held_deliveries h ON h.delivery_id = d.delivery_id
LEFT JOIN dead_letters l ON l.id = d.delivery_id;
