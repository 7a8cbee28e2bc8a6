CREATE TYPE "public"."disabled_by" AS ENUM('relay', 'person');--> statement-breakpoint
ALTER TABLE "endpoints" ADD COLUMN "disabled_by" "disabled_by";--> statement-breakpoint
-- Endpoints that the relay disabled before it kept who did: their reason says so.
UPDATE "endpoints" SET "disabled_by" = CASE WHEN "disabled_reason" = 'the endpoint answered 410 Gone' THEN 'relay' ELSE 'person' END::"disabled_by" WHERE NOT "enabled";
