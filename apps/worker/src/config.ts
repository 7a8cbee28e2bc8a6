import { loadConfig } from '@hqrelay/runtime/env/env';

export const readConfig = () =>
  loadConfig(
    [
      'DATABASE_URL',
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
    ],
    process.env,
  );
