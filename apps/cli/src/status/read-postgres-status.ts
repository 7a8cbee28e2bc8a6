import { withTimeout } from '@hqrelay/flow/with-timeout';
import type { HoldReason } from '@hqrelay/db/queries/held-deliveries';
import type pg from 'pg';
import { down, figure, type Measured, timeoutMs } from './dependency-status.ts';

export type PostgresFigures = {
  held: Record<HoldReason, number> | null;
  /** Rows of `dead_letters`; more may wait in the queue. */
  deadLetters: number | null;
  outbox: number | null;
  partitionsAhead: number | null;
  /** By how much this machine's clock is ahead of Postgres'. */
  clockOffsetMs: number | null;
};

const parallelQueries = 5;
const closeTimeoutMs = 500;

/** The figures of Postgres, read side by side. */
export async function readPostgresStatus(url: string): Promise<Measured<PostgresFigures>> {
  const { Postgres } = await import('@hqrelay/db/postgres');
  const postgres = new Postgres({
    url,
    applicationName: 'hqrelay-cli',
    max: parallelQueries,
    onChange: () => {},
  });
  try {
    const late = `no answer within ${timeoutMs} ms`;
    await withTimeout(postgres.start(), timeoutMs, late).catch((error: unknown) => postgres.markDown(error));
    if (!postgres.health.isUp) return down('postgres', postgres.health.detail ?? late);
    const warnings: string[] = [];
    const figures = await readFigures(postgres.pool, warnings);
    return { name: 'postgres', state: 'up', reason: null, figures, warnings };
  } finally {
    await withTimeout(postgres.close(), closeTimeoutMs, 'late').catch(() => {
      // A query that was late still runs; its connection ends with this process.
    });
  }
}

async function readFigures(pool: pg.Pool, warnings: string[]): Promise<PostgresFigures> {
  const [{ countHeld, holdReasons }, { countOpenDeadLetters }, { countOutbox }, partitions, clock] =
    await Promise.all([
      import('@hqrelay/db/queries/held-deliveries'),
      import('@hqrelay/db/queries/dead-letters'),
      import('@hqrelay/db/queries/outbox'),
      import('@hqrelay/db/queries/partitions'),
      import('@hqrelay/db/queries/clock-offset'),
    ]);
  const [held, deadLetters, outbox, partitionsAhead, offset] = await Promise.all([
    figure(warnings, 'held deliveries', () => countHeld(pool)),
    figure(warnings, 'dead letters', () => countOpenDeadLetters(pool)),
    figure(warnings, 'the outbox', () => countOutbox(pool)),
    figure(warnings, 'partitions', () => partitions.countPartitionsAhead(pool, Date.now())),
    figure(warnings, 'the clock of Postgres', () => clock.measureClockOffset(pool, Date.now)),
  ]);
  const partitionsWarning =
    partitionsAhead === null ? undefined : partitions.partitionsWarning(partitionsAhead);
  const clockWarning = offset === null ? undefined : clock.clockWarning(offset);
  warnings.push(...[partitionsWarning, clockWarning].filter((warning) => warning !== undefined));
  const heldByReason = (counts: ReadonlyMap<HoldReason, number>) =>
    Object.fromEntries(holdReasons.map((reason) => [reason, counts.get(reason) ?? 0]));
  return {
    held: held && (heldByReason(held) as Record<HoldReason, number>),
    deadLetters,
    outbox,
    partitionsAhead,
    clockOffsetMs: offset && Math.round(offset.offsetMs),
  };
}
