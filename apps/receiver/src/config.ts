import { loadConfig } from '@hqrelay/runtime/env/env';

export type ReceiverConfig = ReturnType<typeof readConfig>;

/** Throws a ConfigError that lists every problem of the environment. */
export const readConfig = (env: Readonly<Record<string, string | undefined>> = process.env) =>
  loadConfig(
    [
      'RECEIVER_DATABASE_URL',
      'REDIS_URL',
      'RABBITMQ_URL',
      'HQRELAY_SECRETS_KEY',
      'RECEIVER_PORT',
      'RECEIVER_ADMIN_PORT',
      'PUBLIC_URL',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'BODY_BYTES_MAX',
      'CONFIG_CACHE_TTL_SECONDS',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
    ],
    env,
  );
