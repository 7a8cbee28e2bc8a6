import { withTimeout } from '@hqrelay/flow/with-timeout';
import { down, figure, type Measured, reasonOf, timeoutMs, warnIf } from './dependency-status.ts';

export type RedisFigures = {
  /** Workers that sent a heartbeat lately. */
  workers: number | null;
  /** Ms since the head of each queue that a worker has measured. */
  queueAgesMs: ReadonlyMap<string, number> | null;
  /** By how much this machine's clock is ahead of Redis'. */
  clockOffsetMs: number | null;
};

export async function readRedisStatus(url: string): Promise<Measured<RedisFigures>> {
  const [{ connectRedis }, { probe }, fleet, { readQueueAges }, { evictionWarning }] = await Promise.all([
    import('@hqrelay/cache/connect-redis'),
    import('@hqrelay/cache/probe'),
    import('@hqrelay/cache/fleet/live-workers'),
    import('@hqrelay/cache/fleet/queue-heads'),
    import('@hqrelay/cache/eviction-warning'),
  ]);
  const redis = connectRedis(url, 'hqrelay-cli', { commandTimeout: timeoutMs });
  let connectionError = '';
  redis.on('error', (error: Error) => (connectionError ||= reasonOf(error)));
  try {
    await withTimeout(redis.connect(), timeoutMs, `no answer within ${timeoutMs} ms`);
    await withTimeout(probe(redis), timeoutMs, `no answer within ${timeoutMs} ms`);
    const warnings: string[] = [];
    const [workers, queueAgesMs, clockOffsetMs] = await Promise.all([
      figure(warnings, 'the workers', () => fleet.readLiveWorkers(redis)),
      figure(warnings, 'the ages of the queues', () => readQueueAges(redis)),
      figure(warnings, 'the clock of Redis', () => fleet.clockOffsetOf(redis, Date.now)),
      warnIf(warnings, () => evictionWarning(redis)),
    ]);
    const figures = { workers, queueAgesMs, clockOffsetMs };
    return { name: 'redis', state: 'up', reason: null, figures, warnings };
  } catch (error) {
    return down('redis', connectionError || reasonOf(error));
  } finally {
    redis.disconnect();
  }
}
