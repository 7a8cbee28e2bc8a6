import { Cache } from '@hqrelay/cache/client';
import { Postgres } from '@hqrelay/db/postgres';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import type { Logger } from '@hqrelay/runtime/logger';
import type { ReceiverConfig } from './config.ts';

export type Stores = { postgres: Postgres; cache: Cache; broker: BrokerConnection };

/** The three stores, not yet connected. `onUp` is called at every change to `up`, the first included. */
export function createStores(
  config: ReceiverConfig,
  logger: Logger,
  onUp: { postgres: () => void; redis: () => void },
): Stores {
  const logChange = (dependency: string, state: string, reason?: string) =>
    logger[state === 'up' ? 'info' : 'warn']({ dependency, state, reason }, 'dependency.changed');
  return {
    postgres: new Postgres({
      url: config.receiverDatabaseUrl,
      applicationName: 'hqrelay-receiver',
      max: 8,
      onChange: (state, reason) => {
        logChange('postgres', state, reason);
        if (state === 'up') onUp.postgres();
      },
    }),
    cache: new Cache({
      url: config.redisUrl,
      name: 'hqrelay-receiver',
      onChange: (state, reason) => {
        logChange('redis', state, reason);
        if (state === 'up') onUp.redis();
      },
      onRefused: (error) => logger.error({ err: error }, 'redis.command_refused'),
    }),
    broker: new BrokerConnection({
      urls: config.rabbitmqUrls,
      name: 'hqrelay-receiver',
      onChange: (state, reason) => logChange('rabbitmq', state, reason),
    }),
  };
}
