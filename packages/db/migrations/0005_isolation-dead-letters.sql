CREATE TYPE "public"."dead_letter_kind" AS ENUM('delivery', 'message', 'audit_row');--> statement-breakpoint
CREATE TYPE "public"."breaker_state" AS ENUM('closed', 'open', 'half_open');--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" "dead_letter_kind" NOT NULL,
	"reason" text NOT NULL,
	"project_id" uuid,
	"webhook_log_id" uuid,
	"endpoint_id" uuid,
	"content" "bytea",
	"dead_at" timestamp (3) with time zone NOT NULL,
	"replay_id" uuid,
	"replayed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "endpoint_breakers" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"state" "breaker_state" NOT NULL,
	"failures" integer NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"opened_at" timestamp (3) with time zone,
	"probe_at" timestamp (3) with time zone,
	"interval_ms" integer NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "endpoint_releases" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"breaker_released_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "held_deliveries_endpoint";--> statement-breakpoint
ALTER TABLE "endpoints" ADD COLUMN "release_rate" integer DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_payloads" ADD COLUMN "credentials" jsonb;--> statement-breakpoint
CREATE INDEX "dead_letters_project" ON "dead_letters" USING btree ("project_id","dead_at");--> statement-breakpoint
CREATE INDEX "dead_letters_endpoint" ON "dead_letters" USING btree ("endpoint_id","dead_at");--> statement-breakpoint
CREATE INDEX "dead_letters_open" ON "dead_letters" USING btree ("dead_at") WHERE replayed_at is null;--> statement-breakpoint
CREATE INDEX "held_deliveries_endpoint" ON "held_deliveries" USING btree ("endpoint_id","webhook_log_id") WHERE reason in ('paused', 'disabled', 'breaker');