CREATE TABLE "insight_summaries" (
	"project_id" uuid NOT NULL,
	"question_id" uuid NOT NULL,
	"model" text NOT NULL,
	"statements" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "insight_summaries_project_id_question_id_pk" PRIMARY KEY("project_id","question_id")
);
--> statement-breakpoint
CREATE TABLE "insight_usage" (
	"project_id" uuid NOT NULL,
	"day" date NOT NULL,
	"requests" integer NOT NULL,
	"tokens" bigint NOT NULL,
	"next_at" timestamp (3) with time zone,
	"failure" text,
	CONSTRAINT "insight_usage_project_id_day_pk" PRIMARY KEY("project_id","day")
);
