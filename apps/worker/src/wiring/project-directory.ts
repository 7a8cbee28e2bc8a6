import { ConfigCache } from '@hqrelay/cache/project-config';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import type { WorkerConfig } from '../config.ts';
import type { Stores } from './stores.ts';
import type { WorkerOptions } from './worker-options.ts';

/** Finds projects in memory, then in Redis, then in Postgres. */
export function createProjectDirectory(
  config: WorkerConfig,
  { logger }: WorkerOptions,
  { cache, postgres }: Stores,
): ProjectDirectory {
  const configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(config.secretsKey)),
    ttlSeconds: config.configCacheTtlSeconds,
    onUntrusted: (projectId) => logger.warn({ projectId }, 'config_cache.untrusted_entry'),
  });
  return new ProjectDirectory({ configs, postgres });
}
