import { loadConfig } from '@hqrelay/runtime/env/env';

export type ConsoleConfig = ReturnType<typeof readConfig>;

/** Throws a ConfigError that lists every problem of the environment. */
export const readConfig = (env: Readonly<Record<string, string | undefined>> = process.env) =>
  loadConfig(
    [
      'CONSOLE_DATABASE_URL',
      'DATABASE_READ_URL',
      'REDIS_URL',
      'HQRELAY_SECRETS_KEY',
      'CONSOLE_PORT',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'PUBLIC_URL',
      'RECEIVER_PORT',
      'DELIVERY_TIMEOUT_MS',
      'CONFIG_CACHE_TTL_SECONDS',
      'ALLOW_PRIVATE_ENDPOINTS',
      'ALLOW_ENDPOINT_CIDRS',
      'DNS_SERVERS',
      'EGRESS_PROXY',
    ],
    env,
  );
