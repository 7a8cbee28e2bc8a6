-- The user of Grafana's data source: psql -v password=... -f grafana-user.sql, as the owner. It can be repeated.
SELECT 'CREATE ROLE hqrelay_grafana LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hqrelay_grafana') \gexec
ALTER ROLE hqrelay_grafana PASSWORD :'password';
-- A panel that is too costly ends; Grafana asks again at the next refresh.
ALTER ROLE hqrelay_grafana SET statement_timeout = '10s';
ALTER ROLE hqrelay_grafana SET default_transaction_read_only = on;
GRANT hqrelay_reader TO hqrelay_grafana;
