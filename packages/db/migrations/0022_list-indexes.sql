-- On large tables the operator builds those of webhook_logs and delivery_attempts beforehand, partition by partition and
-- CONCURRENTLY (docs/operations.md); CREATE INDEX then attaches them.
CREATE INDEX "delivery_attempts_failed_webhooks" ON "delivery_attempts" USING btree ("project_id","webhook_log_id") WHERE status <> 'delivered';--> statement-breakpoint
CREATE INDEX "held_deliveries_timed" ON "held_deliveries" USING btree ("endpoint_id","webhook_log_id") WHERE reason in ('delay', 'order');--> statement-breakpoint
CREATE INDEX "webhook_logs_by_webhook_id" ON "webhook_logs" USING btree ("webhook_id","project_id");--> statement-breakpoint
CREATE INDEX "webhook_logs_correlation_id" ON "webhook_logs" USING btree ("correlation_id") WHERE length(correlation_id) <> 36 or substr(correlation_id, 15, 1) <> '7';--> statement-breakpoint
DROP INDEX "webhook_logs_webhook_id";