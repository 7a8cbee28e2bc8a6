CREATE TABLE "admin_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"project_id" uuid,
	"target" text,
	"details" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "endpoints" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "admin_log_project" ON "admin_log" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "admin_log_target" ON "admin_log" USING btree ("target","id");--> statement-breakpoint
SELECT hqrelay_refuse_changes_of('admin_log');
