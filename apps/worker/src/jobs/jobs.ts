import type { Cache } from '@hqrelay/cache/client';
import type { Postgres } from '@hqrelay/db/postgres';
import type { BrokerConnection } from '@hqrelay/queue/connection';
import type { Publisher } from '@hqrelay/queue/publisher';
import type { Logger } from '@hqrelay/runtime/logger';
import type { EndpointGate } from '../endpoint/endpoint-gate.ts';
import type { Job } from './runner.ts';
import { countWorkers, type Crew } from './count-workers.ts';
import { drainOutbox } from './drain-outbox.ts';
import { drainSpilledAudit } from './drain-spilled-audit.ts';
import { dropExpiredKeys } from './drop-expired-keys.ts';
import { forgetQuietBreakers } from './forget-quiet-breakers.ts';
import { makePartitions } from './make-partitions.ts';
import { measureBacklog, type MeasureBacklogDeps } from './measure-backlog.ts';
import { releaseHeld } from './release-held.ts';
import { createStoreDeadLetters } from './store-dead-letters.ts';

export type JobDeps = {
  postgres: Postgres;
  cache: Cache;
  connection: BrokerConnection;
  publisher: Publisher;
  gate: EndpointGate;
  crew: Crew;
  gauges: MeasureBacklogDeps['gauges'];
  logger: Logger;
  now: () => number;
};

/** All that a worker does beside delivering. */
export function jobsOf(deps: JobDeps): Job[] {
  const counted = async (what: string, work: Promise<number>) => {
    const count = await work;
    if (count > 0) deps.logger.info({ count }, what);
  };
  let released = 0;
  let measuringTookMs = 0;
  const storeDeadLetters = createStoreDeadLetters(deps);
  return [
    {
      name: 'release-held',
      // A few at a time while some go: a burst of them would be noticed by everybody else.
      everyMs: () => (released > 0 ? 100 : 500),
      run: async () => {
        released = await releaseHeld(deps);
        if (released > 0) deps.logger.debug({ count: released }, 'held.released');
      },
    },
    {
      name: 'drain-outbox',
      everyMs: 500,
      run: (stopping) => counted('outbox.drained', drainOutbox(deps, stopping)),
    },
    {
      name: 'drain-spilled-audit',
      everyMs: 1_000,
      run: (stopping) => counted('audit.drained', drainSpilledAudit(deps, stopping)),
    },
    {
      name: 'store-dead-letters',
      everyMs: 1_000,
      run: (stopping) => counted('dead_letters.taken', storeDeadLetters(stopping)),
    },
    { name: 'refresh-breakers', everyMs: 1_000, run: () => deps.gate.breakers.refresh() },
    { name: 'count-workers', everyMs: 2_000, run: () => countWorkers(deps) },
    {
      name: 'measure-backlog',
      // Counting takes the longer the more there is.
      everyMs: () => Math.max(5_000, 50 * measuringTookMs),
      run: async () => {
        const startedAt = performance.now();
        await measureBacklog(deps);
        measuringTookMs = performance.now() - startedAt;
      },
    },
    {
      name: 'make-partitions',
      everyMs: 600_000,
      run: () => counted('partitions.made', makePartitions(deps)),
    },
    {
      name: 'drop-expired-keys',
      everyMs: 600_000,
      run: () => counted('keys.dropped', dropExpiredKeys(deps)),
    },
    {
      name: 'forget-quiet-breakers',
      everyMs: 600_000,
      run: () => counted('breakers.forgotten', forgetQuietBreakers(deps)),
    },
  ];
}
