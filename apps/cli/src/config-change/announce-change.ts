import type { Cli } from '../cli.ts';

const redisTimeoutMs = 1_000;

/**
 * Tells receivers and workers of a committed change, and Redis of a project that is new. When Redis cannot be reached the change stands all the same: a
 * warning then says how long it may take to be seen.
 */
export async function announceChange(
  cli: Cli,
  config: { redisUrl: string; configCacheTtlSeconds: number },
  projectId: string,
  { isNew = false } = {},
): Promise<void> {
  const [{ connectRedis }, { announceProjectChange }, { rememberFromBirth }] = await Promise.all([
    import('@hqrelay/cache/connect-redis'),
    import('@hqrelay/cache/project-config'),
    import('@hqrelay/cache/admission'),
  ]);
  const redis = connectRedis(config.redisUrl, 'hqrelay-cli', { commandTimeout: redisTimeoutMs });
  let reason = '';
  redis.on('error', (error: Error) => (reason ||= error.message));
  try {
    await redis.connect();
    if (isNew) await rememberFromBirth(redis, projectId);
    await announceProjectChange(redis, projectId);
  } catch (error) {
    reason ||= error instanceof Error ? error.message : String(error);
    cli.warn(
      `warning: the change is saved, but Redis cannot be told (${reason}): it may take up to ` +
        `${config.configCacheTtlSeconds} s (CONFIG_CACHE_TTL_SECONDS) until every process sees it\n`,
    );
  } finally {
    redis.disconnect();
  }
}
