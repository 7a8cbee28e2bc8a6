import type { StoreHealth } from '@hqrelay/flow/store-health';
import type { Consumer } from '@hqrelay/queue/consumer';
import type { HealthDeps } from '@hqrelay/runtime/http/health';
import type { Stores } from './stores.ts';

/** A worker is ready while it consumes every queue; the other stores may be down. */
export function healthOf(
  { postgres, cache, publishing, consuming }: Stores,
  consumers: readonly Consumer[],
): Pick<HealthDeps, 'dependencies' | 'isReady'> {
  const notConsuming = (): StoreHealth => ({
    state: 'down',
    isUp: false,
    detail: consuming.health.detail ?? 'a queue is not consumed',
    since: consuming.health.since,
  });
  return {
    dependencies: {
      postgres: () => postgres.health,
      redis: () => cache.health,
      rabbitmq: () =>
        consumers.every(({ isConsuming }) => isConsuming) ? publishing.health : notConsuming(),
    },
    isReady: (states) => states.rabbitmq === 'up',
  };
}
