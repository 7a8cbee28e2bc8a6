CREATE TABLE "console_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_sha256" text NOT NULL,
	"subject" text NOT NULL,
	"role" "api_role" NOT NULL,
	"project_id" uuid,
	"hide_payloads" boolean NOT NULL,
	"return_url" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "console_links_token_sha256_unique" UNIQUE("token_sha256")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"link_id" uuid NOT NULL,
	"token_sha256" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "sessions_link_id_unique" UNIQUE("link_id"),
	CONSTRAINT "sessions_token_sha256_unique" UNIQUE("token_sha256")
);
--> statement-breakpoint
ALTER TABLE "api_answers" RENAME COLUMN "api_key_id" TO "caller_id";--> statement-breakpoint
ALTER TABLE "api_answers" DROP CONSTRAINT "api_answers_api_key_id_api_keys_id_fk";
--> statement-breakpoint
ALTER TABLE "api_answers" DROP CONSTRAINT "api_answers_api_key_id_idempotency_key_pk";--> statement-breakpoint
ALTER TABLE "api_answers" ADD CONSTRAINT "api_answers_caller_id_idempotency_key_pk" PRIMARY KEY("caller_id","idempotency_key");--> statement-breakpoint
ALTER TABLE "console_links" ADD CONSTRAINT "console_links_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_link_id_console_links_id_fk" FOREIGN KEY ("link_id") REFERENCES "public"."console_links"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "console_links_expiry" ON "console_links" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_age" ON "sessions" USING btree ("created_at");