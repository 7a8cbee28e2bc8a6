ALTER TABLE "endpoints" ADD COLUMN "ca_certificates" text;--> statement-breakpoint
ALTER TABLE "endpoints" ADD COLUMN "sealed_client_certificate" text;--> statement-breakpoint
ALTER TABLE "endpoints" ADD COLUMN "client_certificate_key_id" text;