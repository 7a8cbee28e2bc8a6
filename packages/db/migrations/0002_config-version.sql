-- A project's version rises with every change that receivers and workers must hear of, whoever makes it; the row lock
-- on the project puts concurrent changes in order, so that a cached config with a lower version is always the older one.
CREATE FUNCTION hqrelay_raise_own_config_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (to_jsonb(NEW) - ARRAY['last_received_at', 'config_version']) IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['last_received_at', 'config_version'])
    OR NEW.config_version IS DISTINCT FROM OLD.config_version THEN
    NEW.config_version := OLD.config_version + 1;
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER raise_config_version BEFORE UPDATE ON projects FOR EACH ROW EXECUTE FUNCTION hqrelay_raise_own_config_version();
--> statement-breakpoint
CREATE FUNCTION hqrelay_raise_config_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (to_jsonb(NEW) - 'last_verified_at') IS NOT DISTINCT FROM (to_jsonb(OLD) - 'last_verified_at') THEN
    RETURN NULL;
  END IF;
  IF TG_TABLE_NAME = 'endpoint_secrets' THEN
    UPDATE projects SET config_version = config_version + 1 WHERE id = (SELECT project_id FROM endpoints WHERE id = NEW.endpoint_id);
  ELSE
    UPDATE projects SET config_version = config_version + 1 WHERE id = NEW.project_id;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER raise_config_version AFTER INSERT OR UPDATE ON project_secrets FOR EACH ROW EXECUTE FUNCTION hqrelay_raise_config_version();
--> statement-breakpoint
CREATE TRIGGER raise_config_version AFTER INSERT OR UPDATE ON endpoints FOR EACH ROW EXECUTE FUNCTION hqrelay_raise_config_version();
--> statement-breakpoint
CREATE TRIGGER raise_config_version AFTER INSERT OR UPDATE ON endpoint_secrets FOR EACH ROW EXECUTE FUNCTION hqrelay_raise_config_version();
