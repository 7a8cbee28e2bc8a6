CREATE TABLE "attempt_statistics" (
	"project_id" uuid NOT NULL,
	"bucket_at" timestamp (3) with time zone NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"delivered" integer NOT NULL,
	"failed" integer NOT NULL,
	"dead_lettered" integer NOT NULL,
	"attempt_slots" smallint[] NOT NULL,
	"attempt_counts" integer[] NOT NULL,
	"end_to_end_slots" smallint[] NOT NULL,
	"end_to_end_counts" integer[] NOT NULL,
	CONSTRAINT "attempt_statistics_project_id_bucket_at_endpoint_id_pk" PRIMARY KEY("project_id","bucket_at","endpoint_id")
);
--> statement-breakpoint
CREATE TABLE "received_statistics" (
	"project_id" uuid NOT NULL,
	"bucket_at" timestamp (3) with time zone NOT NULL,
	"status" "webhook_status" NOT NULL,
	"requests" bigint NOT NULL,
	CONSTRAINT "received_statistics_project_id_bucket_at_status_pk" PRIMARY KEY("project_id","bucket_at","status")
);
--> statement-breakpoint
CREATE TABLE "statistics_progress" (
	"id" smallint PRIMARY KEY NOT NULL,
	"counted_from" timestamp (3) with time zone NOT NULL,
	"counted_to" timestamp (3) with time zone NOT NULL,
	"is_backfilled" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "statistics_stale" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "statistics_stale_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"bucket_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "attempt_statistics_bucket" ON "attempt_statistics" USING btree ("bucket_at");--> statement-breakpoint
CREATE INDEX "received_statistics_bucket" ON "received_statistics" USING btree ("bucket_at");--> statement-breakpoint
-- The histogram slot of a latency in ms: slot n ends at 1.05^n, so that its middle, 1.05^(n - 0.5), is within 2.5 % of its values.
CREATE FUNCTION hqrelay_latency_slot(ms double precision) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ceil(ln(greatest(ms, 1)) / ln(1.05::double precision))::smallint
$$;
--> statement-breakpoint
INSERT INTO "statistics_progress" ("id", "counted_from", "counted_to")
SELECT 1, b.now, b.now FROM (SELECT date_bin('30 minutes', now(), timestamptz '2000-01-01Z') AS now) AS b;
