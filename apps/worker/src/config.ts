import { ConfigError, loadConfig } from '@hqrelay/runtime/env/env';

export type WorkerConfig = ReturnType<typeof readConfig>;

const names = [
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
  'SMTP_URL',
  'ALERT_FROM',
  'ALERT_OPERATOR_EMAIL',
  'CONSOLE_URL',
  'CONSOLE_PORT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
] as const;

/** Throws a ConfigError with every problem at once. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  const config = loadConfig(names, env);
  const { smtpUrl, alertFrom, alertOperatorEmail } = config;
  const problems = [
    ...(smtpUrl !== undefined && alertFrom === undefined
      ? ['SMTP_URL needs ALERT_FROM, the address that alerts are sent from']
      : []),
    ...(alertOperatorEmail !== undefined && smtpUrl === undefined
      ? ['ALERT_OPERATOR_EMAIL needs SMTP_URL, the server that mails are sent by']
      : []),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}
