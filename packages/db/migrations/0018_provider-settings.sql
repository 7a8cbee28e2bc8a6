ALTER TABLE "projects" ADD COLUMN "sealed_settings" text;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "settings_key_id" text;