-- Deletes the payload of a webhook, its held messages, its messages in the outbox, and the bytes of its dead letters. What is
-- deleted can never be delivered, so its held deliveries become dead letters with the reason, and its dead letters are closed:
-- they have a replayed_at without a replay_id. Deletes nothing and returns how many deliveries wait while one has a message in
-- the broker, from which nothing can be removed. The rows of the audit tables stay.
CREATE FUNCTION hqrelay_erase_webhook(webhook uuid, why text)
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
--> statement-breakpoint
REVOKE ALL ON FUNCTION hqrelay_erase_webhook(uuid, text) FROM PUBLIC;
