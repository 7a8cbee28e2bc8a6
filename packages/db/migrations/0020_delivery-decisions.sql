CREATE TABLE "delivery_decisions" (
	"delivery_id" uuid PRIMARY KEY NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"retry_attempt_num" integer,
	"retry_at" timestamp (3) with time zone,
	"cancelled_at" timestamp (3) with time zone,
	"in_broker_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "delivery_decisions_webhook" ON "delivery_decisions" USING btree ("webhook_log_id");--> statement-breakpoint
CREATE INDEX "delivery_attempts_failed_delivery" ON "delivery_attempts" USING btree ("delivery_id") WHERE status = 'failed';
--> statement-breakpoint
-- The same views as before, with the state `cancelled` and the time that a person asked for.
CREATE OR REPLACE VIEW delivery_status AS
SELECT
  w.id AS webhook_log_id,
  owed.endpoint_id,
  d.delivery_id,
  CASE
    WHEN a.delivered_at IS NOT NULL THEN 'delivered'
    WHEN x.cancelled_at IS NOT NULL THEN 'cancelled'
    WHEN a.dead_lettered OR l.id IS NOT NULL THEN 'dead_lettered'
    WHEN h.delivery_id IS NOT NULL THEN 'held'
    ELSE 'waiting'
  END AS state,
  coalesce(a.attempts, 0) AS attempts,
  a.last_status_code,
  a.last_error,
  CASE
    WHEN a.delivered_at IS NOT NULL OR a.dead_lettered OR l.id IS NOT NULL OR x.cancelled_at IS NOT NULL THEN NULL
    WHEN x.retry_attempt_num > coalesce(a.attempts, 0) THEN x.retry_at
    ELSE a.next_attempt_at
  END AS next_attempt_at,
  a.delivered_at,
  h.reason AS held_reason,
  h.due_at AS held_until,
  w.project_id,
  w.webhook_id,
  w.received_at,
  l.reason AS dead_reason,
  l.replayed_at,
  x.cancelled_at
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
LEFT JOIN delivery_decisions x ON x.delivery_id = d.delivery_id
WHERE w.status = 'queued';
--> statement-breakpoint
CREATE OR REPLACE VIEW replay_status AS
SELECT
  r.id AS replay_id,
  r.webhook_log_id,
  r.endpoint_id,
  d.delivery_id,
  CASE
    WHEN a.delivered_at IS NOT NULL THEN 'delivered'
    WHEN x.cancelled_at IS NOT NULL THEN 'cancelled'
    WHEN a.dead_lettered OR l.id IS NOT NULL THEN 'dead_lettered'
    WHEN h.delivery_id IS NOT NULL THEN 'held'
    ELSE 'waiting'
  END AS state,
  coalesce(a.attempts, 0) AS attempts,
  a.last_status_code,
  a.last_error,
  CASE
    WHEN a.delivered_at IS NOT NULL OR a.dead_lettered OR l.id IS NOT NULL OR x.cancelled_at IS NOT NULL THEN NULL
    WHEN x.retry_attempt_num > coalesce(a.attempts, 0) THEN x.retry_at
    ELSE a.next_attempt_at
  END AS next_attempt_at,
  a.delivered_at,
  h.reason AS held_reason,
  h.due_at AS held_until,
  r.requested_by,
  r.requested_at,
  l.reason AS dead_reason,
  l.replayed_at,
  r.job_id,
  x.cancelled_at
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
LEFT JOIN dead_letters l ON l.id = d.delivery_id
LEFT JOIN delivery_decisions x ON x.delivery_id = d.delivery_id;
--> statement-breakpoint
-- Deletes the payload of a webhook, its held messages, its messages in the outbox, and the bytes of its dead letters. What is
-- deleted can never be delivered, so its held deliveries become dead letters with the reason, and its dead letters are closed:
-- they have a replayed_at without a replay_id. Deletes nothing and returns how many deliveries wait while one has a message in
-- the broker, from which nothing can be removed. The rows of the audit tables stay.
CREATE OR REPLACE FUNCTION hqrelay_erase_webhook(webhook uuid, why text)
RETURNS TABLE (waiting integer, payloads integer, held integer, messages integer, contents integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  received timestamptz(3) := hqrelay_time_of(webhook);
  project uuid;
BEGIN
  -- No replay job makes a message of this payload meanwhile.
  PERFORM pg_advisory_xact_lock(hashtext('hqrelay_replays'));
  SELECT w.project_id INTO STRICT project FROM webhook_logs w WHERE w.id = webhook AND w.received_at = received;
  -- A worker that releases one of these has committed, or waits for this transaction.
  PERFORM FROM held_deliveries h WHERE h.webhook_log_id = webhook FOR UPDATE;
  SELECT count(*) INTO waiting FROM (
    SELECT FROM delivery_status d
    WHERE d.webhook_log_id = webhook AND d.received_at = received AND d.state = 'waiting'
    UNION ALL
    SELECT FROM replay_status r
    WHERE r.webhook_log_id = webhook AND r.requested_at >= received - interval '1 hour' AND r.state = 'waiting'
    UNION ALL
    -- The decision made a message needless that may still be in the broker.
    SELECT FROM delivery_decisions x WHERE x.webhook_log_id = webhook AND x.in_broker_until > now()
  ) AS unfinished;
  IF waiting > 0 THEN
    RETURN NEXT;
    RETURN;
  END IF;
  DELETE FROM webhook_payloads p WHERE p.id = webhook AND p.received_at = received;
  GET DIAGNOSTICS payloads = ROW_COUNT;
  WITH deleted AS (
    DELETE FROM held_deliveries h WHERE h.webhook_log_id = webhook RETURNING h.delivery_id, h.endpoint_id
  )
  INSERT INTO dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
  SELECT delivery_id, 'delivery', 'erased: ' || why, project, webhook, endpoint_id, now() FROM deleted
  ON CONFLICT (id) DO NOTHING;
  GET DIAGNOSTICS held = ROW_COUNT;
  -- Duplicates of deliveries that have ended.
  DELETE FROM outbox o
  WHERE o.id = webhook OR position(convert_to('"id":"' || webhook || '"', 'UTF8') IN o.message) > 0;
  GET DIAGNOSTICS messages = ROW_COUNT;
  UPDATE dead_letters l SET content = NULL WHERE l.webhook_log_id = webhook AND l.content IS NOT NULL;
  GET DIAGNOSTICS contents = ROW_COUNT;
  UPDATE dead_letters l SET replayed_at = now() WHERE l.webhook_log_id = webhook AND l.replayed_at IS NULL;
  RETURN NEXT;
END $$;
