import { loadConfig } from '@hqrelay/runtime/env/env';

export const readConfig = () =>
  loadConfig(
    [
      'DATABASE_URL',
      'REDIS_URL',
      'RABBITMQ_URL',
      'HQRELAY_SECRETS_KEY',
      'RECEIVER_PORT',
      'RECEIVER_ADMIN_PORT',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'BODY_BYTES_MAX',
      'CONFIG_CACHE_TTL_SECONDS',
    ],
    process.env,
  );
