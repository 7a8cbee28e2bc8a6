ALTER TABLE "projects" ADD COLUMN "first_attempts_checked_until" timestamp (3) with time zone;
