import { Cache } from '@hqrelay/cache/client';
import { Postgres } from '@hqrelay/db/postgres';
import type { Logger } from '@hqrelay/runtime/logger';
import type { ConsoleConfig } from './config.ts';

export type Stores = {
  /** Takes every change, and looks up what a request names. */
  postgres: Postgres;
  /** Serves lists and searches, from the replica where there is one. Its own pool, so that no list keeps a change waiting. */
  reads: Postgres;
  cache: Cache;
};

/** The stores, not yet connected. Postgres ends each of their statements after five seconds. */
export function createStores(config: ConsoleConfig, logger: Logger): Stores {
  const logChange = (dependency: string) => (state: string, reason?: string) =>
    logger[state === 'up' ? 'info' : 'warn']({ dependency, state, reason }, 'dependency.changed');
  return {
    postgres: new Postgres({
      url: config.consoleDatabaseUrl,
      applicationName: 'hqrelay-console',
      max: 4,
      onChange: logChange('postgres'),
    }),
    reads: new Postgres({
      url: config.databaseReadUrl ?? config.consoleDatabaseUrl,
      applicationName: 'hqrelay-console-reads',
      max: 4,
      isReplica: config.databaseReadUrl !== undefined,
      onChange: logChange('postgres reads'),
    }),
    cache: new Cache({
      url: config.redisUrl,
      name: 'hqrelay-console',
      onChange: logChange('redis'),
      onRefused: (error) => logger.error({ err: error }, 'redis.command_refused'),
    }),
  };
}
