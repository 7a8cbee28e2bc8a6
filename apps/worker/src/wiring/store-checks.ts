import { clusterRefusal } from '@hqrelay/cache/cluster-refusal';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { clockWarning, measureClockOffset } from '@hqrelay/db/queries/clock-offset';
import { countPartitionsAhead, partitionsWarning } from '@hqrelay/db/queries/partitions';
import { diskWarning } from '@hqrelay/queue/connection/disk-warning';
import { gaugeWhenMeasured } from '@hqrelay/runtime/metrics';
import { StoreChecks } from '@hqrelay/runtime/store-checks';
import type { WorkerConfig } from '../config.ts';
import type { Part } from './part.ts';
import type { Stores } from './stores.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The checks of the stores' set-up, and the gauges of what they measure. */
export function createStoreChecks(
  { rabbitmqUrls }: WorkerConfig,
  { logger, registry, refuse, now }: WorkerOptions,
  { postgres, cache }: Stores,
): StoreChecks {
  const clockOffset = gaugeWhenMeasured(
    registry,
    'hqrelay_clock_offset_seconds',
    "By how much this machine's clock is ahead of Postgres'; negative when it is behind",
  );
  const partitionsAhead = gaugeWhenMeasured(
    registry,
    'hqrelay_partitions_ahead',
    'Months after this one that have partitions of every audit table',
  );
  const checkPartitions = async () => {
    const ahead = await countPartitionsAhead(postgres.pool, now());
    partitionsAhead.set(ahead);
    return partitionsWarning(ahead);
  };
  const checkClock = async () => {
    const measured = await measureClockOffset(postgres.pool, now);
    clockOffset.set(measured.offsetMs / 1_000);
    return clockWarning(measured);
  };
  return new StoreChecks({
    checks: [
      { dependency: 'postgres', run: checkPartitions },
      { dependency: 'postgres', run: checkClock },
      { dependency: 'redis', run: () => clusterRefusal(cache.redis), isFatal: true },
      { dependency: 'redis', run: () => evictionWarning(cache.redis) },
      { dependency: 'rabbitmq', run: () => diskWarning(rabbitmqUrls[0] as string) },
    ],
    logger,
    refuse,
  });
}

export function storeChecksPart(storeChecks: StoreChecks): Part {
  return { name: 'store checks', start: () => storeChecks.start(), stop: () => storeChecks.stop() };
}
