CREATE TYPE "public"."alert_attempt_status" AS ENUM('sent', 'failed');--> statement-breakpoint
CREATE TYPE "public"."alert_message_state" AS ENUM('firing', 'recovered');--> statement-breakpoint
CREATE TYPE "public"."alert_channel" AS ENUM('email', 'webhook', 'slack');--> statement-breakpoint
CREATE TABLE "alert_attempts" (
	"message_id" uuid NOT NULL,
	"attempt_num" integer NOT NULL,
	"status" "alert_attempt_status" NOT NULL,
	"answer" text NOT NULL,
	"latency_ms" integer NOT NULL,
	"attempted_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "alert_attempts_message_id_attempt_num_pk" PRIMARY KEY("message_id","attempt_num")
);
--> statement-breakpoint
CREATE TABLE "alert_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rule_id" uuid,
	"project_id" uuid NOT NULL,
	"type" text NOT NULL,
	"state" "alert_message_state" NOT NULL,
	"is_reminder" boolean NOT NULL,
	"endpoint_id" uuid,
	"count" integer NOT NULL,
	"reason" text NOT NULL,
	"first_at" timestamp (3) with time zone,
	"last_at" timestamp (3) with time zone,
	"first_example_id" uuid,
	"last_example_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_sendings" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"rule_id" uuid,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_rules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"kinds" text[] NOT NULL,
	"channel" "alert_channel" NOT NULL,
	"target" text NOT NULL,
	"sealed_channel" text,
	"channel_key_id" text,
	"window_ms" integer NOT NULL,
	"snoozed_until" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"last_error" text,
	"last_sent_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "alert_states" (
	"rule_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"active_since" timestamp (3) with time zone,
	"messaged_at" timestamp (3) with time zone,
	"told_count" integer NOT NULL,
	"told_to" timestamp (3) with time zone,
	CONSTRAINT "alert_states_rule_id_kind_subject_id_pk" PRIMARY KEY("rule_id","kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "backlog_samples" (
	"endpoint_id" uuid NOT NULL,
	"sampled_at" timestamp (3) with time zone NOT NULL,
	"waiting" integer NOT NULL,
	CONSTRAINT "backlog_samples_endpoint_id_sampled_at_pk" PRIMARY KEY("endpoint_id","sampled_at")
);
--> statement-breakpoint
ALTER TABLE "alert_rules" ADD CONSTRAINT "alert_rules_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_messages_project" ON "alert_messages" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE INDEX "alert_messages_operator" ON "alert_messages" USING btree ("created_at") WHERE rule_id is null;--> statement-breakpoint
CREATE INDEX "alert_sendings_due" ON "alert_sendings" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "alert_rules_project" ON "alert_rules" USING btree ("project_id") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "dead_letters_open_endpoint" ON "dead_letters" USING btree ("endpoint_id","dead_at") WHERE replayed_at is null;