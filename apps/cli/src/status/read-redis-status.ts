import { withTimeout } from '@hqrelay/flow/with-timeout';
import { down, figure, type Measured, reasonOf, timeoutMs, warnIf } from './dependency-status.ts';

export type RedisFigures = {
  /** Workers that sent a heartbeat lately. */
  workers: number | null;
  /** By how much this machine's clock is ahead of Redis'. */
  clockOffsetMs: number | null;
};

export async function readRedisStatus(url: string): Promise<Measured<RedisFigures>> {
  const [{ connectRedis }, { probe }, { readLiveWorkers, clockOffsetOf }, { evictionWarning }] =
    await Promise.all([
      import('@hqrelay/cache/connect-redis'),
      import('@hqrelay/cache/probe'),
      import('@hqrelay/cache/fleet/live-workers'),
      import('@hqrelay/cache/eviction-warning'),
    ]);
  const redis = connectRedis(url, 'hqrelay-cli', { commandTimeout: timeoutMs });
  let connectionError = '';
  redis.on('error', (error: Error) => (connectionError ||= reasonOf(error)));
  try {
    await withTimeout(redis.connect(), timeoutMs, `no answer within ${timeoutMs} ms`);
    await withTimeout(probe(redis), timeoutMs, `no answer within ${timeoutMs} ms`);
    const warnings: string[] = [];
    const [workers, clockOffsetMs] = await Promise.all([
      figure(warnings, 'the workers', () => readLiveWorkers(redis)),
      figure(warnings, 'the clock of Redis', () => clockOffsetOf(redis, Date.now)),
      warnIf(warnings, () => evictionWarning(redis)),
    ]);
    return { name: 'redis', state: 'up', reason: null, figures: { workers, clockOffsetMs }, warnings };
  } catch (error) {
    return down('redis', connectionError || reasonOf(error));
  } finally {
    redis.disconnect();
  }
}
