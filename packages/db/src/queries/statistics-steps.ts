import type { Queryable } from '../queryable.ts';
import { bucketMs } from './stale-statistics.ts';

export const statisticsSteps = ['1m', '5m', '10m', '30m', '1h', '1d', '1w'] as const;

export type StatisticsStep = (typeof statisticsSteps)[number];

/** Steps of a fixed length, in ms. Days and weeks have the length that the time zone gives them. */
const lengthMs: Readonly<Partial<Record<StatisticsStep, number>>> = {
  '1m': 60_000,
  '5m': 300_000,
  '10m': 600_000,
  '30m': 1_800_000,
  '1h': 3_600_000,
};

export type Period = {
  /** ms since epoch; the steps begin at the one that `since` lies in. */
  since: number;
  until: number;
  step: StatisticsStep;
  /** A name of the IANA database. */
  timeZone: string;
};

/** Steps that are shorter than a bucket are counted from rows. */
export function isFine(step: StatisticsStep): boolean {
  return (lengthMs[step] ?? Infinity) < bucketMs;
}

export type Steps =
  /** The start of each step and the end of the last, in ms since epoch. */
  | { kind: 'steps'; starts: number[]; end: number }
  | { kind: 'too_many' }
  /** Postgres does not know the time zone. */
  | { kind: 'unknown_zone' }
  /** The zone's days do not begin on a half hour of UTC. */
  | { kind: 'uneven_zone' };

/** Divides a period into at most `stepsMax` steps of the time zone. */
export async function divide(client: Queryable, period: Period, stepsMax: number): Promise<Steps> {
  const { since, until, step } = period;
  const fixedMs = lengthMs[step];
  if ((until - since) / (fixedMs ?? 82_800_000) > (step === '1w' ? 7 * stepsMax : stepsMax + 1)) {
    return { kind: 'too_many' };
  }
  const bounds =
    fixedMs === undefined
      ? await localBounds(client, period)
      : fixedBounds(await startOfHour(client, period), fixedMs, period);
  if (bounds === 'unknown_zone') return { kind: 'unknown_zone' };
  const starts = bounds.slice(0, -1);
  if (starts.length > stepsMax) return { kind: 'too_many' };
  if (!isFine(step) && bounds.some((at) => at % bucketMs !== 0)) return { kind: 'uneven_zone' };
  return { kind: 'steps', starts, end: bounds.at(-1) as number };
}

function fixedBounds(hour: number | 'unknown_zone', stepMs: number, { since, until }: Period) {
  if (hour === 'unknown_zone') return hour;
  const bounds = [hour + Math.floor((since - hour) / stepMs) * stepMs];
  for (let end = bounds[0] as number; end < until || bounds.length < 2;) bounds.push((end += stepMs));
  return bounds;
}

/** The start of the hour of the time zone that the period begins in. */
async function startOfHour(client: Queryable, { since, timeZone }: Period): Promise<number | 'unknown_zone'> {
  const read = () =>
    client.query<{ at: Date }>(`select date_trunc('hour', $1::timestamptz, $2) as at`, [
      new Date(since),
      timeZone,
    ]);
  return (await knownZone(read))?.rows[0]?.at.getTime() ?? 'unknown_zone';
}

async function localBounds(
  client: Queryable,
  { since, until, step, timeZone }: Period,
): Promise<number[] | 'unknown_zone'> {
  const unit = step === '1w' ? 'week' : 'day';
  const read = () =>
    client.query<{ at: Date }>(
      `select day at time zone $3 as at from generate_series(
         date_trunc($4, $1::timestamptz at time zone $3),
         date_trunc($4, ($2::timestamptz - interval '1 ms') at time zone $3) + ('1 ' || $4)::interval,
         ('1 ' || $4)::interval) as day order by 1`,
      [new Date(since), new Date(Math.max(until, since + 1)), timeZone, unit],
    );
  return (await knownZone(read))?.rows.map(({ at }) => at.getTime()) ?? 'unknown_zone';
}

const invalidParameter = '22023';

async function knownZone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as { code?: string }).code === invalidParameter) return undefined;
    throw error;
  }
}
