-- The audit tables take rows and never give one up: privileges keep the apps' role from trying, these triggers keep
-- everybody, the owner too. Statement triggers refuse what names a table, even when it would match no row, and TRUNCATE
-- of one partition, which a trigger on the parent never sees; the row trigger is inherited by every partition.
CREATE FUNCTION hqrelay_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
--> statement-breakpoint
CREATE FUNCTION hqrelay_refuse_changes_of(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION public.hqrelay_refuse_change()', target);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_change', target);
END $$;
--> statement-breakpoint
DO $$
DECLARE
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['webhook_logs', 'delivery_attempts', 'replays'] LOOP
    PERFORM hqrelay_refuse_changes_of(parent::regclass);
    EXECUTE format('CREATE TRIGGER refuse_row_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION hqrelay_refuse_change()', parent);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_row_change', parent);
  END LOOP;
END $$;
--> statement-breakpoint
-- Makes the partitions of the month (UTC) that `at` lies in, where they are missing, and says how many it made.
-- The apps' role may call it and nothing else that changes the schema. A table is made apart and attached, because
-- ATTACH lets reads and writes of the parent go on while CREATE ... PARTITION OF does not.
CREATE FUNCTION hqrelay_ensure_partition(at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  parent text;
  child text;
  month timestamp := date_trunc('month', at AT TIME ZONE 'UTC');
  made integer := 0;
BEGIN
  IF at IS NULL OR at < timestamptz '2020-01-01Z' OR at > now() + interval '2 years' THEN
    RAISE EXCEPTION 'no partition is made for %: it lies outside 2020 to two years from now', at USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('hqrelay_ensure_partition'));
  FOREACH parent IN ARRAY ARRAY['webhook_logs', 'webhook_payloads', 'delivery_attempts', 'replays'] LOOP
    child := parent || to_char(month, '_YYYY_MM');
    CONTINUE WHEN to_regclass('public.' || child) IS NOT NULL;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
    IF parent = 'delivery_attempts' THEN
      EXECUTE format('CREATE UNIQUE INDEX %I ON public.%I (webhook_log_id, delivery_id, attempt_num)', child || '_once', child);
    END IF;
    IF parent <> 'webhook_payloads' THEN
      PERFORM public.hqrelay_refuse_changes_of(('public.' || child)::regclass);
    END IF;
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
      parent, child, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION hqrelay_ensure_partition(timestamptz), hqrelay_refuse_changes_of(regclass) FROM PUBLIC;
--> statement-breakpoint
SELECT hqrelay_ensure_partition(now() + make_interval(months => m)) FROM generate_series(0, 3) m;
