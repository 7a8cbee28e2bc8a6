-- Deletes a batch of payloads from before `before`, in the order of their ids from `after` on, except those of deliveries and
-- replays that have not ended. Returns the last id it looked at, null at the end; then emptied months give their space back.
-- The apps' role may call it and delete no payload otherwise, and none of the last day.
CREATE FUNCTION hqrelay_drop_payloads(before timestamptz, after uuid, batch integer) RETURNS TABLE (last uuid, dropped integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
  child regclass;
  is_empty boolean;
BEGIN
  IF before IS NULL OR before > now() - interval '1 day' THEN
    RAISE EXCEPTION 'payloads of the last day are kept' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  last := NULL;
  dropped := 0;
  IF NOT pg_try_advisory_xact_lock(hashtext('hqrelay_drop_payloads')) THEN
    RETURN NEXT;
    RETURN;
  END IF;
  WITH old AS MATERIALIZED (
    SELECT p.id, p.received_at FROM webhook_payloads p
    WHERE p.received_at < before AND p.id > after ORDER BY p.id LIMIT batch
  ), deleted AS (
    DELETE FROM webhook_payloads p USING old
    WHERE p.id = old.id AND p.received_at = old.received_at AND p.received_at < before
      AND NOT EXISTS (
        SELECT FROM delivery_status d
        WHERE d.webhook_log_id = old.id AND d.received_at = old.received_at AND d.state IN ('waiting', 'held'))
      AND NOT EXISTS (
        SELECT FROM replay_status r
        WHERE r.webhook_log_id = old.id AND r.requested_at >= old.received_at - interval '1 hour' AND r.state IN ('waiting', 'held'))
    RETURNING p.id
  )
  SELECT (SELECT o.id FROM old o ORDER BY o.id DESC LIMIT 1), (SELECT count(*) FROM deleted) INTO last, dropped;
  IF last IS NULL THEN
    FOR child IN
      SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'webhook_payloads'::regclass AND pg_relation_size(c.oid) > 0
        AND (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' <= before
    LOOP
      BEGIN
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', child) INTO is_empty;
        CONTINUE WHEN NOT is_empty;
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', child);
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', child) INTO is_empty;
        IF is_empty THEN EXECUTE format('TRUNCATE %s', child); END IF;
      EXCEPTION WHEN lock_not_available THEN
        -- Another session reads it: the next run tries again.
        NULL;
      END;
    END LOOP;
  END IF;
  RETURN NEXT;
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION hqrelay_drop_payloads(timestamptz, uuid, integer) FROM PUBLIC;
