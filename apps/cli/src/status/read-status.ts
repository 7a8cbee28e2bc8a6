import { backlogOf } from '@hqrelay/queue/queue-backlog';
import { auditQueue, deadLetterQueue } from '@hqrelay/queue/topology';
import type { DependencyStatus } from './dependency-status.ts';
import { oldestAges, type OldestAges } from './oldest-ages.ts';
import { type PostgresFigures, readPostgresStatus } from './read-postgres-status.ts';
import { readRabbitmqStatus } from './read-rabbitmq-status.ts';
import { readRedisStatus } from './read-redis-status.ts';

/** One screen about the relay. A figure is null when its dependency is down or did not say it; a warning then says why. */
export type RelayStatus = {
  dependencies: DependencyStatus[];
  workers: number | null;
  /** Messages ready in each queue. */
  queues: Record<string, number> | null;
  /** Of the oldest message that is ready in each work queue, as the metric has it. */
  oldestAgeSeconds: OldestAges;
  held: PostgresFigures['held'];
  /** In the table and in the queue, as the metric counts them. */
  deadLetters: number | null;
  outbox: number | null;
  /** Messages of audit rows that Postgres did not take. */
  spilled: number | null;
  /** By how much this machine's clock is ahead of each store's. */
  clockOffsetsMs: { postgres: number | null; redis: number | null };
  partitionsAhead: number | null;
  warnings: string[];
};

/** Asks the three dependencies side by side, each within a timeout of its own. Never rejects for one that is down. */
export async function readStatus(config: {
  consoleDatabaseUrl: string;
  redisUrl: string;
  rabbitmqUrls: readonly string[];
}): Promise<RelayStatus> {
  const [postgres, redis, rabbitmq] = await Promise.all([
    readPostgresStatus(config.consoleDatabaseUrl),
    readRedisStatus(config.redisUrl),
    readRabbitmqStatus(config.rabbitmqUrls),
  ]);
  const { held, deadLetters, outbox, partitionsAhead, clockOffsetMs } = postgres.figures ?? noFigures;
  const depths = rabbitmq.figures?.depths ?? null;
  const queues = depths && Object.fromEntries(backlogOf(depths));
  const stored = [deadLetters, queues?.[deadLetterQueue] ?? null];
  return {
    dependencies: [postgres, redis, rabbitmq].map(({ name, state, reason }) => ({ name, state, reason })),
    workers: redis.figures?.workers ?? null,
    queues,
    oldestAgeSeconds: oldestAges(depths, redis.figures?.queueAgesMs ?? null),
    held,
    deadLetters: stored.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0),
    outbox,
    spilled: queues?.[auditQueue] ?? null,
    clockOffsetsMs: { postgres: clockOffsetMs, redis: redis.figures?.clockOffsetMs ?? null },
    partitionsAhead,
    warnings: [postgres, redis, rabbitmq].flatMap(({ warnings }) => warnings),
  };
}

const noFigures: PostgresFigures = {
  held: null,
  deadLetters: null,
  outbox: null,
  partitionsAhead: null,
  clockOffsetMs: null,
};
