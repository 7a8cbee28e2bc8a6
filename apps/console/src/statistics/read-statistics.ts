import {
  readAttemptCounts,
  readCounted,
  readReceived,
  type AttemptCount,
  type Counted,
  type ReceivedCount,
  type Span,
} from '@hqrelay/db/queries/statistics';
import { divide, isFine, type Period } from '@hqrelay/db/queries/statistics-steps';
import { webhookStatuses, type WebhookStatus } from '@hqrelay/db/queries/webhooks';
import type pg from 'pg';
import type { z } from 'zod';
import { refuse, reply, type ApiRefusal, type Reply } from '../api/route.ts';
import type { statistics } from '../schemas/statistics.ts';

const stepsMax = 1_000;
const dayMs = 86_400_000;
/** The busiest endpoints, by attempts. */
const seriesMax = 50;

export type Asked = Period & {
  projectId: string;
  endpointId?: string | undefined;
  groupBy?: 'endpoint' | undefined;
};

type Statistics = z.input<typeof statistics>;
type Series = Statistics['series'][number];

/** The statistics of a project. `now` in ms since epoch. */
export async function readStatistics(pool: pg.Pool, asked: Asked, now: number): Promise<Reply<Statistics>> {
  const { projectId, since, until, step, timeZone, endpointId, groupBy } = asked;
  if (since >= until) return refuse(400, 'statistics.period', 'query.since: it must be before `until`');
  if (isFine(step) && until - since > dayMs) {
    return refuse(400, 'statistics.period', `query.step: steps of ${step} are counted for 24 hours at most`);
  }
  const divided = await divide(pool, asked, stepsMax);
  if (divided.kind !== 'steps') return refusalOf(divided.kind, timeZone);
  const { starts, end } = divided;
  const counted = await readCounted(pool);
  const span = spanOf({ starts, end, isFine: isFine(step), now }, counted);
  const ofEndpoint = endpointId !== undefined || groupBy === 'endpoint';
  const received = ofEndpoint ? [] : await readReceived(pool, [projectId], span);
  const byEndpoint = groupBy === 'endpoint';
  const attempts = await readAttemptCounts(pool, { projectIds: [projectId], endpointId, byEndpoint }, span);
  const countedFrom = isFine(step) ? null : counted.from;
  const shown = starts
    .map((at, index) => ({ at, index }))
    .filter(({ at }) => at < span.asOf && at >= (countedFrom ?? -Infinity));
  const groups = byEndpoint ? byEndpointOf(attempts) : [{ endpointId: endpointId ?? null, attempts }];
  return reply({
    since: new Date(starts[0] as number),
    until: new Date(end),
    step,
    timeZone,
    asOf: new Date(span.asOf),
    countedFrom: countedFrom === null ? null : new Date(countedFrom),
    series: groups.slice(0, seriesMax).map((group) => seriesOf(group, shown, ofEndpoint ? null : received)),
    seriesOmitted: Math.max(0, groups.length - seriesMax),
  });
}

/** Buckets that are not counted yet are read as rows, of at most 24 hours. */
export function spanOf(
  {
    starts,
    end,
    isFine: isOfRows,
    now,
  }: { starts: readonly number[]; end: number; isFine: boolean; now: number },
  counted: Counted,
): Span & { asOf: number } {
  if (isOfRows) return { starts, end, rowsFrom: -Infinity, asOf: Math.min(now, end) };
  const isBehind = now - counted.to > dayMs;
  const asOf = isBehind ? counted.to : now;
  return {
    starts,
    end: isBehind ? Math.min(end, counted.to) : end,
    rowsFrom: counted.to,
    asOf: Math.min(asOf, end),
  };
}

function refusalOf(kind: 'too_many' | 'unknown_zone' | 'uneven_zone', timeZone: string): ApiRefusal {
  const messages = {
    too_many: `query.step: the period has more than ${stepsMax} steps`,
    unknown_zone: 'query.timeZone: there is no such time zone',
    uneven_zone: `query.timeZone: days and hours of ${timeZone} do not begin on a half hour of UTC, which is what is counted`,
  };
  return refuse(400, `statistics.${kind}`, messages[kind]);
}

function byEndpointOf(counts: readonly AttemptCount[]) {
  const groups = new Map<string | null, AttemptCount[]>();
  for (const count of counts) groups.set(count.endpointId, [...(groups.get(count.endpointId) ?? []), count]);
  const size = (attempts: readonly AttemptCount[]) =>
    attempts.reduce(
      (sum, { delivered, failed, dead_lettered }) => sum + delivered + failed + dead_lettered,
      0,
    );
  return [...groups]
    .map(([endpointId, attempts]) => ({ endpointId, attempts }))
    .sort((a, b) => size(b.attempts) - size(a.attempts));
}

function seriesOf(
  { endpointId, attempts }: { endpointId: string | null; attempts: readonly AttemptCount[] },
  shown: readonly { at: number; index: number }[],
  received: readonly ReceivedCount[] | null,
): Series {
  const attemptsOf = new Map(attempts.map((count) => [count.step, count]));
  const receivedOf = new Map(
    (received ?? []).map((count) => [`${count.step} ${count.status}`, count.requests]),
  );
  return {
    endpointId,
    points: shown.map(({ at, index }) => {
      const count = attemptsOf.get(index);
      const requests = (status: WebhookStatus) => receivedOf.get(`${index} ${status}`) ?? 0;
      return {
        at: new Date(at),
        received:
          received &&
          (Object.fromEntries(webhookStatuses.map((status) => [status, requests(status)])) as Record<
            WebhookStatus,
            number
          >),
        delivered: count?.delivered ?? 0,
        failed: count?.failed ?? 0,
        deadLettered: count?.dead_lettered ?? 0,
        attemptMs: count?.attemptMs ?? null,
        endToEndMs: count?.endToEndMs ?? null,
      };
    }),
  };
}
