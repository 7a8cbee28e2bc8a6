CREATE TABLE "search_progress" (
	"id" smallint PRIMARY KEY NOT NULL,
	"indexed_to" timestamp (3) with time zone NOT NULL,
	"last_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_search_values" (
	"project_id" uuid NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"value" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_search_values_webhook_log_id_value_received_at_pk" PRIMARY KEY("webhook_log_id","value","received_at")
) PARTITION BY RANGE ("received_at");
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "search_keys" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_search_values_value" ON "webhook_search_values" USING btree ("value","project_id","received_at");
--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_search_keys" CHECK (cardinality(search_keys) <= 5);
--> statement-breakpoint
INSERT INTO "search_progress" ("id", "indexed_to", "last_id") VALUES (1, now(), '00000000-0000-0000-0000-000000000000');
--> statement-breakpoint
-- The texts and numbers of up to 200 characters under the JSON Pointers, numbers as they are written. Nothing for a payload that is
-- no JSON.
CREATE FUNCTION hqrelay_search_values(payload bytea, keys text[]) RETURNS SETOF text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  document json;
  key text;
  path text[];
BEGIN
  document := convert_from(payload, 'UTF8')::json;
  FOREACH key IN ARRAY keys LOOP
    SELECT array_agg(replace(replace(token, '~1', '/'), '~0', '~') ORDER BY place) INTO path
    FROM unnest(string_to_array(substr(key, 2), '/')) WITH ORDINALITY AS t (token, place);
    IF json_typeof(document #> path) IN ('string', 'number') AND length(document #>> path) BETWEEN 1 AND 200 THEN
      RETURN NEXT document #>> path;
    END IF;
  END LOOP;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN;
END $$;
--> statement-breakpoint
-- A worker indexes under the same lock: a payload that is deleted is indexed before, and its values are deleted too, or not at all.
CREATE FUNCTION hqrelay_lock_search_values() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('hqrelay_search_values'));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION hqrelay_delete_search_values() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM public.webhook_search_values v WHERE v.webhook_log_id = OLD.id AND v.received_at = OLD.received_at;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER lock_search_values BEFORE DELETE ON webhook_payloads FOR EACH STATEMENT EXECUTE FUNCTION hqrelay_lock_search_values();
--> statement-breakpoint
CREATE TRIGGER delete_search_values AFTER DELETE ON webhook_payloads FOR EACH ROW EXECUTE FUNCTION hqrelay_delete_search_values();
--> statement-breakpoint
-- The same function as before, with the partitions of webhook_search_values.
CREATE OR REPLACE FUNCTION hqrelay_ensure_partition(at timestamptz) RETURNS integer
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
  FOREACH parent IN ARRAY ARRAY['webhook_logs', 'webhook_payloads', 'delivery_attempts', 'replays', 'webhook_search_values'] LOOP
    child := parent || to_char(month, '_YYYY_MM');
    CONTINUE WHEN to_regclass('public.' || child) IS NOT NULL;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
    IF parent = 'delivery_attempts' THEN
      EXECUTE format('CREATE UNIQUE INDEX %I ON public.%I (webhook_log_id, delivery_id, attempt_num)', child || '_once', child);
    END IF;
    IF parent NOT IN ('webhook_payloads', 'webhook_search_values') THEN
      PERFORM public.hqrelay_refuse_changes_of(('public.' || child)::regclass);
    END IF;
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
      parent, child, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;
--> statement-breakpoint
SELECT hqrelay_ensure_partition(to_date(right(c.relname, 7), 'YYYY_MM')::timestamp AT TIME ZONE 'UTC')
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'webhook_payloads'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$';
