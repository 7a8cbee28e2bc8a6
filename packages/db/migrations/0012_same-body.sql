CREATE TYPE "public"."same_body" AS ENUM('accept', 'duplicate');--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "same_body" "same_body" DEFAULT 'accept' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_logs" ADD COLUMN "body_is_key" boolean;--> statement-breakpoint
CREATE INDEX "webhook_logs_body" ON "webhook_logs" USING btree ("project_id","payload_sha256") WHERE body_is_key;