CREATE TYPE "public"."attempt_status" AS ENUM('delivered', 'failed', 'dead_lettered');--> statement-breakpoint
CREATE TYPE "public"."lane" AS ENUM('live', 'retry', 'replay');--> statement-breakpoint
CREATE TYPE "public"."on_dead_letter" AS ENUM('continue', 'hold');--> statement-breakpoint
CREATE TYPE "public"."hold_reason" AS ENUM('delay', 'paused', 'disabled', 'order', 'breaker');--> statement-breakpoint
CREATE TYPE "public"."idempotency_state" AS ENUM('reserved', 'seen', 'retryable');--> statement-breakpoint
CREATE TYPE "public"."on_conflict" AS ENUM('reject', 'duplicate');--> statement-breakpoint
CREATE TYPE "public"."webhook_status" AS ENUM('queued', 'duplicate', 'conflict', 'rate_limited', 'rejected', 'failed_to_queue');--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	"id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"lane" "lane" NOT NULL,
	"attempt_num" integer NOT NULL,
	"status" "attempt_status" NOT NULL,
	"status_code" integer,
	"latency_ms" integer NOT NULL,
	"error" text,
	"response_body" text,
	"correlation_id" text NOT NULL,
	"attempted_at" timestamp (3) with time zone NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	CONSTRAINT "delivery_attempts_id_attempted_at_pk" PRIMARY KEY("id","attempted_at")
) PARTITION BY RANGE ("attempted_at");
--> statement-breakpoint
CREATE TABLE "endpoint_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"sealed" text NOT NULL,
	"key_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "endpoints" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"url" text NOT NULL,
	"event_types" text[] DEFAULT '{}' NOT NULL,
	"retry_schedule" text[] NOT NULL,
	"timeout_ms" integer NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"disabled_reason" text,
	"paused" boolean DEFAULT false NOT NULL,
	"ordering_key" text,
	"on_dead_letter" "on_dead_letter" DEFAULT 'continue' NOT NULL,
	"forward_credentials" boolean DEFAULT false NOT NULL,
	"sealed_headers" text,
	"headers_key_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "held_deliveries" (
	"delivery_id" uuid PRIMARY KEY NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"ordering_key" text,
	"reason" "hold_reason" NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"held_at" timestamp (3) with time zone NOT NULL,
	"queue" text NOT NULL,
	"message" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"project_id" uuid NOT NULL,
	"webhook_id" text NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"payload_sha256" text NOT NULL,
	"state" "idempotency_state" NOT NULL,
	"token" uuid NOT NULL,
	"reserved_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_project_id_webhook_id_pk" PRIMARY KEY("project_id","webhook_id")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "outbox_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"exchange" text NOT NULL,
	"routing_key" text NOT NULL,
	"message" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "project_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"sealed" text NOT NULL,
	"key_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_verified_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"provider" text DEFAULT 'generic' NOT NULL,
	"rate_limit_per_minute" integer DEFAULT 100,
	"idempotency_ttl_seconds" integer DEFAULT 86400 NOT NULL,
	"on_conflict" "on_conflict" DEFAULT 'reject' NOT NULL,
	"require_timestamp" boolean DEFAULT false NOT NULL,
	"scheme" jsonb,
	"enabled" boolean DEFAULT true NOT NULL,
	"last_received_at" timestamp (3) with time zone,
	"config_version" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "replays" (
	"id" uuid NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"requested_by" text NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "replays_id_requested_at_pk" PRIMARY KEY("id","requested_at")
) PARTITION BY RANGE ("requested_at");
--> statement-breakpoint
CREATE TABLE "webhook_logs" (
	"id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"webhook_id" text NOT NULL,
	"event_type" text,
	"status" "webhook_status" NOT NULL,
	"reason" text,
	"endpoint_ids" uuid[] NOT NULL,
	"duplicate_of" uuid,
	"payload_sha256" text,
	"payload_bytes" integer NOT NULL,
	"remote_addr" text,
	"correlation_id" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_logs_id_received_at_pk" PRIMARY KEY("id","received_at")
) PARTITION BY RANGE ("received_at");
--> statement-breakpoint
CREATE TABLE "webhook_payloads" (
	"id" uuid NOT NULL,
	"payload" "bytea" NOT NULL,
	"headers" jsonb NOT NULL,
	"query" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_payloads_id_received_at_pk" PRIMARY KEY("id","received_at")
) PARTITION BY RANGE ("received_at");
--> statement-breakpoint
ALTER TABLE "endpoint_secrets" ADD CONSTRAINT "endpoint_secrets_endpoint_id_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."endpoints"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "endpoints" ADD CONSTRAINT "endpoints_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_secrets" ADD CONSTRAINT "project_secrets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_attempts_project_time" ON "delivery_attempts" USING btree ("project_id","attempted_at");--> statement-breakpoint
CREATE INDEX "delivery_attempts_failures" ON "delivery_attempts" USING btree ("endpoint_id","attempted_at") WHERE status <> 'delivered';--> statement-breakpoint
CREATE INDEX "endpoint_secrets_endpoint" ON "endpoint_secrets" USING btree ("endpoint_id");--> statement-breakpoint
CREATE INDEX "endpoints_project" ON "endpoints" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "held_deliveries_due" ON "held_deliveries" USING btree ("reason","due_at");--> statement-breakpoint
CREATE INDEX "held_deliveries_endpoint" ON "held_deliveries" USING btree ("endpoint_id","due_at");--> statement-breakpoint
CREATE INDEX "held_deliveries_webhook" ON "held_deliveries" USING btree ("webhook_log_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "outbox_seq" ON "outbox" USING btree ("seq");--> statement-breakpoint
CREATE INDEX "project_secrets_project" ON "project_secrets" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "replays_webhook" ON "replays" USING btree ("webhook_log_id");--> statement-breakpoint
CREATE INDEX "webhook_logs_project_time" ON "webhook_logs" USING btree ("project_id","received_at");--> statement-breakpoint
CREATE INDEX "webhook_logs_webhook_id" ON "webhook_logs" USING btree ("project_id","webhook_id");--> statement-breakpoint
ALTER TABLE "webhook_payloads" ALTER COLUMN "payload" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "held_deliveries" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);--> statement-breakpoint
ALTER TABLE "outbox" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
