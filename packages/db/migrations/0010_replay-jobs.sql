CREATE TYPE "public"."replay_job_state" AS ENUM('running', 'finished', 'cancelled');--> statement-breakpoint
CREATE TABLE "replay_jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid,
	"selection" jsonb NOT NULL,
	"rate_per_second" integer NOT NULL,
	"requested_by" text NOT NULL,
	"state" "replay_job_state" DEFAULT 'running' NOT NULL,
	"count" integer NOT NULL,
	"count_capped" boolean NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"not_replayed" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"cursor_at" timestamp (3) with time zone,
	"cursor_id" uuid,
	"next_due_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "replays" ADD COLUMN "job_id" uuid;--> statement-breakpoint
CREATE INDEX "replay_jobs_project" ON "replay_jobs" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "dead_letters_webhook" ON "dead_letters" USING btree ("webhook_log_id");--> statement-breakpoint
CREATE INDEX "replays_job" ON "replays" USING btree ("job_id") WHERE job_id is not null;--> statement-breakpoint
-- The same view as before, with the job of a replay.
CREATE OR REPLACE VIEW replay_status AS
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
  l.replayed_at,
  r.job_id
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
