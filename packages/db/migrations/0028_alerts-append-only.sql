SELECT hqrelay_refuse_changes_of('alert_messages');
--> statement-breakpoint
SELECT hqrelay_refuse_changes_of('alert_attempts');
