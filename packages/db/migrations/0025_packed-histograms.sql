-- A histogram becomes pairs of a slot (two bytes) and a count (four bytes), so that one behind the other is their sum.
CREATE FUNCTION hqrelay_packed_histogram(slots smallint[], counts integer[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(string_agg(int2send(slot) || int4send(count), ''), '') FROM unnest(slots, counts) AS h (slot, count)
$$;
--> statement-breakpoint
ALTER TABLE "attempt_statistics"
  ALTER COLUMN "attempt_slots" TYPE bytea USING hqrelay_packed_histogram(attempt_slots, attempt_counts),
  ALTER COLUMN "end_to_end_slots" TYPE bytea USING hqrelay_packed_histogram(end_to_end_slots, end_to_end_counts);
--> statement-breakpoint
ALTER TABLE "attempt_statistics" RENAME COLUMN "attempt_slots" TO "attempt_histogram";--> statement-breakpoint
ALTER TABLE "attempt_statistics" RENAME COLUMN "end_to_end_slots" TO "end_to_end_histogram";--> statement-breakpoint
ALTER TABLE "attempt_statistics" DROP COLUMN "attempt_counts";--> statement-breakpoint
ALTER TABLE "attempt_statistics" DROP COLUMN "end_to_end_counts";--> statement-breakpoint
DROP FUNCTION hqrelay_packed_histogram(smallint[], integer[]);
