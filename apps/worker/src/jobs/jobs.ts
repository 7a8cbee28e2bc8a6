import type { Cache } from '@hqrelay/cache/client';
import type { Postgres } from '@hqrelay/db/postgres';
import type { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import type { Logger } from '@hqrelay/runtime/logger';
import type { EndpointGate } from '../endpoint/endpoint-gate.ts';
import type { SendMessageDeps } from '../alerts/send-message.ts';
import { countNearLimit } from './count-near-limit.ts';
import { countWorkers, type Fleet } from './count-workers.ts';
import { drainOutbox } from './drain-outbox.ts';
import { drainSpilledAudit } from './drain-spilled-audit.ts';
import { dropExpiredKeys } from './drop-expired-keys.ts';
import { createDropPayloads } from './drop-payloads.ts';
import { createEndTurns } from './end-turns.ts';
import { evaluateAlerts } from './evaluate-alerts.ts';
import { indexSearchValues } from './index-search-values.ts';
import { forgetQuietBreakers } from './forget-quiet-breakers.ts';
import { makePartitions } from './make-partitions.ts';
import { measureAlerts } from './measure-alerts.ts';
import { createMeasureBacklog, type MeasureBacklogDeps } from './measure-backlog.ts';
import { createPutBackStranded } from './put-back-stranded.ts';
import type { MeasureQueueAgesDeps } from './queue-ages.ts';
import { releaseHeld } from './release-held.ts';
import { rollUpStatistics } from './roll-up-statistics.ts';
import type { Job } from './runner.ts';
import { sendAlerts } from './send-alerts.ts';
import { createSequenceWebhooks } from './sequence-webhooks.ts';
import { runReplayJobs } from './run-replay-jobs.ts';
import { createStoreDeadLetters } from './store-dead-letters.ts';

export type JobDeps = {
  postgres: Postgres;
  cache: Cache;
  connection: BrokerConnection;
  consumers: MeasureQueueAgesDeps['consumers'];
  publisher: Publisher;
  gate: EndpointGate;
  fleet: Fleet;
  gauges: MeasureBacklogDeps['gauges'];
  logger: Logger;
  payloadRetentionDays: number | undefined;
  /** What sends alerts, and where to. */
  alerts: Omit<SendMessageDeps, 'now'>;
  now: () => number;
};

/** The periodic work of a worker beside its deliveries, one file each. */
export function createJobs(deps: JobDeps) {
  return {
    // Often and few at a time while some are due: a burst would delay new webhooks.
    releaseHeld: { everyMs: ({ count }) => (count > 0 ? 100 : 500), run: () => releaseHeld(deps) },
    drainOutbox: { everyMs: 500, event: 'outbox.drained', run: (stopping) => drainOutbox(deps, stopping) },
    drainSpilledAudit: {
      everyMs: 1_000,
      event: 'audit.drained',
      run: (stopping) => drainSpilledAudit(deps, stopping),
    },
    storeDeadLetters: { everyMs: 1_000, event: 'dead_letters.taken', run: createStoreDeadLetters(deps) },
    runReplayJobs: {
      everyMs: 1_000,
      event: 'replays.made',
      run: (stopping) => runReplayJobs(deps, stopping),
    },
    putBackStranded: { everyMs: 10_000, event: 'webhooks.put_back', run: createPutBackStranded(deps) },
    endTurns: { everyMs: 5_000, event: 'turns.ended', run: createEndTurns(deps) },
    sequenceWebhooks: { everyMs: 1_000, event: 'keys.sequenced', run: createSequenceWebhooks(deps) },
    refreshBreakers: { everyMs: 1_000, run: () => deps.gate.breakers.refresh() },
    countWorkers: { everyMs: 2_000, run: () => countWorkers(deps) },
    countNearLimit: { everyMs: 5_000, run: () => countNearLimit(deps) },
    // The larger the backlog and the slower the stores, the longer the counting takes; gauges older than this hide an incident.
    measureBacklog: {
      everyMs: ({ tookMs }) => Math.min(30_000, Math.max(5_000, 50 * tookMs)),
      run: createMeasureBacklog(deps),
    },
    // History is counted in a fifth of the time, so that it does not delay webhooks.
    rollUpStatistics: {
      everyMs: ({ count, tookMs }) => (count > 0 ? Math.max(500, 4 * tookMs) : 30_000),
      run: (stopping) => rollUpStatistics(deps, stopping),
    },
    // With no rule it is one read; the first message is due 30 s after the first event.
    evaluateAlerts: {
      everyMs: ({ tookMs }) => Math.max(5_000, 10 * tookMs),
      event: 'alerts.made',
      run: (stopping) => evaluateAlerts(deps, stopping),
    },
    sendAlerts: { everyMs: 2_000, run: (stopping) => sendAlerts({ ...deps, ...deps.alerts }, stopping) },
    // Postgres may not be up at the start.
    measureAlerts: { everyMs: ({ count }) => (count > 0 ? 60_000 : 5_000), run: () => measureAlerts(deps) },
    indexSearchValues: { everyMs: 1_000, run: (stopping) => indexSearchValues(deps, stopping) },
    makePartitions: { everyMs: 600_000, event: 'partitions.made', run: () => makePartitions(deps) },
    dropExpiredKeys: { everyMs: 600_000, event: 'keys.dropped', run: () => dropExpiredKeys(deps) },
    // Often, because Postgres may not be up at the start; it deletes hourly.
    dropPayloads: { everyMs: 10_000, event: 'payloads.dropped', run: createDropPayloads(deps) },
    forgetQuietBreakers: {
      everyMs: 600_000,
      event: 'breakers.forgotten',
      run: () => forgetQuietBreakers(deps),
    },
  } satisfies Record<string, Job>;
}
