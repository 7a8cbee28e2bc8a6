-- The time inside a UUIDv7.
CREATE FUNCTION hqrelay_time_of(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)
$$;
--> statement-breakpoint
-- The id of one webhook's delivery to one endpoint, as packages/domain/src/ids.ts derives it: the first 16 bytes of
-- SHA-256 over both ids, with the version (8) and variant of RFC 9562.
CREATE FUNCTION hqrelay_delivery_id(webhook_log_id uuid, endpoint_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT encode(set_byte(set_byte(h, 6, (get_byte(h, 6) & 15) | 128), 8, (get_byte(h, 8) & 63) | 128), 'hex')::uuid
  FROM (SELECT substring(sha256(uuid_send(webhook_log_id) || uuid_send(endpoint_id)) FROM 1 FOR 16) AS h) AS hash
$$;
--> statement-breakpoint
-- One row for every delivery that webhook_logs owes. Ask with `received_at` (or an id and its time) to touch only that
-- period's partitions; attempts are looked for from an hour before the webhook came, for clocks that differ.
CREATE VIEW delivery_status AS
SELECT
  w.id AS webhook_log_id,
  owed.endpoint_id,
  d.delivery_id,
  CASE
    WHEN a.delivered_at IS NOT NULL THEN 'delivered'
    WHEN a.dead_lettered THEN 'dead_lettered'
    WHEN h.delivery_id IS NOT NULL THEN 'held'
    ELSE 'waiting'
  END AS state,
  coalesce(a.attempts, 0) AS attempts,
  a.last_status_code,
  a.last_error,
  CASE WHEN a.delivered_at IS NULL AND NOT coalesce(a.dead_lettered, false) THEN a.next_attempt_at END AS next_attempt_at,
  a.delivered_at,
  h.reason AS held_reason,
  h.due_at AS held_until,
  w.project_id,
  w.webhook_id,
  w.received_at
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
WHERE w.status = 'queued';
