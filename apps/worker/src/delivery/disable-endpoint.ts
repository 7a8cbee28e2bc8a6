import type { Cache } from '@hqrelay/cache/client';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import type { Postgres } from '@hqrelay/db/postgres';
import { disableEndpoint } from '@hqrelay/db/queries/disable-endpoint';
import type { ProjectDirectory } from '@hqrelay/projects/project-directory';
import type { Logger } from '@hqrelay/runtime/logger';

export type DisableEndpoint = (projectId: string, endpointId: string, reason: string) => Promise<void>;

const timeoutMs = 2_000;

/**
 * Disables an endpoint that answered 410. While Postgres is unavailable the endpoint stays enabled, and its next 410 disables
 * it.
 */
export function createDisableEndpoint(deps: {
  postgres: Postgres;
  cache: Cache;
  directory: ProjectDirectory;
  logger: Logger;
  now: () => number;
}): DisableEndpoint {
  const { postgres, cache, directory, logger, now } = deps;
  return async (projectId, endpointId, reason) => {
    const done = await postgres.tryWithin(timeoutMs, (pool) =>
      disableEndpoint(pool, endpointId, reason, now()),
    );
    if (!done) return;
    directory.forget(projectId);
    // Without Redis the change is not announced: the other workers read it when their cached entries expire.
    await announceProjectChange(cache.redis, projectId).catch((error: unknown) =>
      logger.warn({ err: error, projectId }, 'project.change_not_announced'),
    );
    logger.warn({ projectId, endpointId, reason }, 'endpoint.disabled');
  };
}
