import { ConfigError, loadConfig } from '@hqrelay/runtime/env/env';

export type ConsoleConfig = ReturnType<typeof readConfig>;

const names = [
  'CONSOLE_DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'HQRELAY_SECRETS_KEY',
  'CONSOLE_PORT',
  'CONSOLE_URL',
  'CONSOLE_FRAME_ANCESTORS',
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
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'INSIGHTS_MODEL',
] as const;

/** Throws a ConfigError that lists every problem of the environment. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  const config = loadConfig(names, env);
  if (config.consoleFrameAncestors.length > 0 && !config.consoleUrl?.startsWith('https:')) {
    throw new ConfigError([
      'CONSOLE_FRAME_ANCESTORS needs a CONSOLE_URL that starts with https:, because browsers keep the cookie of an ' +
        'embedded page over TLS only',
    ]);
  }
  return config;
}
