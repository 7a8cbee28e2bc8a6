import { loadConfig } from '@hqrelay/runtime/env/env';

export type WorkerConfig = ReturnType<typeof readConfig>;

/** Throws a ConfigError with every problem at once. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return loadConfig(
    [
      'WORKER_DATABASE_URL',
      'REDIS_URL',
      'RABBITMQ_URL',
      'HQRELAY_SECRETS_KEY',
      'WORKER_PORT',
      'LOG_LEVEL',
      'BODY_BYTES_MAX',
      'CONFIG_CACHE_TTL_SECONDS',
      'ALLOW_PRIVATE_ENDPOINTS',
      'ALLOW_ENDPOINT_CIDRS',
      'DNS_SERVERS',
      'EGRESS_PROXY',
      'PAYLOAD_RETENTION_DAYS',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
    ],
    env,
  );
}
