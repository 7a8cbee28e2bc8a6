CREATE TABLE "ordered_deliveries" (
	"delivery_id" uuid PRIMARY KEY NOT NULL,
	"webhook_log_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"ordering_key" text COLLATE "C" NOT NULL,
	"sequence" bigint,
	"accepted_at_us" bigint NOT NULL,
	"claimed_attempt" integer,
	"claimed_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "ordering_keys" (
	"endpoint_id" uuid NOT NULL,
	"ordering_key" text COLLATE "C" NOT NULL,
	"last_sequence" bigint NOT NULL,
	"has_unsequenced" boolean DEFAULT false NOT NULL,
	CONSTRAINT "ordering_keys_endpoint_id_ordering_key_pk" PRIMARY KEY("endpoint_id","ordering_key")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "ordered_deliveries_turn" ON "ordered_deliveries" USING btree ("endpoint_id","ordering_key","sequence") WHERE sequence is not null;--> statement-breakpoint
CREATE INDEX "ordered_deliveries_unsequenced" ON "ordered_deliveries" USING btree ("endpoint_id","ordering_key","accepted_at_us") WHERE sequence is null;--> statement-breakpoint
CREATE INDEX "ordering_keys_unsequenced" ON "ordering_keys" USING btree ("endpoint_id","ordering_key") WHERE has_unsequenced;--> statement-breakpoint
-- Each row is updated once or more before it is deleted: the new version finds room on its page, and no index is written.
ALTER TABLE "ordered_deliveries" SET (fillfactor = 60);--> statement-breakpoint
ALTER TABLE "ordering_keys" SET (fillfactor = 60);
