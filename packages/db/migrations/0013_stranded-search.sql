CREATE TABLE "stranded_search" (
	"id" smallint PRIMARY KEY NOT NULL,
	"last_id" uuid NOT NULL
);
