import type { Queryable } from '@hqrelay/db/queryable';
import {
  readInsightBusiestMinute,
  readInsightNewestIds,
  readInsightNotQueued,
  readInsightUntaken,
} from '@hqrelay/db/queries/insight-requests';
import { bucketMs } from '@hqrelay/db/queries/stale-statistics';
import { readReceived, type Span } from '@hqrelay/db/queries/statistics';
import type { Period, ProjectFacts, RequestCounts } from '@hqrelay/domain/insights/facts';

export type AskedProject = { id: string; provider: string; rateLimitPerMinute: number | null };

type RequestFacts = Pick<ProjectFacts, 'received' | 'notQueued' | 'untaken' | 'busiestMinute' | 'newestIds'>;

/** What came in, and what became of it at the door. */
export async function readRequestFacts(
  client: Queryable,
  { project, period }: { project: AskedProject; period: Period },
  { span, hasBefore }: { span: Span; hasBefore: boolean },
): Promise<RequestFacts> {
  const asked = { projectId: project.id, period };
  const counts = await readReceived(client, [project.id], span);
  const of = (step: number): RequestCounts => {
    const counted = { ...none };
    for (const row of counts) if (row.step === step) counted[row.status] += row.requests;
    return counted;
  };
  const notQueued = await readInsightNotQueued(client, asked);
  const untaken = await readInsightUntaken(client, asked);
  const both = { since: period.previousSince, until: period.until };
  return {
    received: { now: of(1), before: hasBefore ? of(0) : null },
    notQueued: notQueued.map((group) => ({
      ...group,
      firstAt: group.firstAt.getTime(),
      lastAt: group.lastAt.getTime(),
    })),
    untaken: { groups: untaken, examined: untaken[0]?.examined ?? 0 },
    busiestMinute: project.rateLimitPerMinute === null ? null : await readBusiest(client, asked, span),
    newestIds: await readInsightNewestIds(client, { projectId: project.id, period: both }),
  };
}

const none: RequestCounts & Record<string, number> = {
  queued: 0,
  duplicate: 0,
  conflict: 0,
  rate_limited: 0,
  rejected: 0,
  failed_to_queue: 0,
};

const halfHoursMax = 5;

/** The busiest minute of the five busiest half hours. */
async function readBusiest(
  client: Queryable,
  { projectId, period }: { projectId: string; period: Period },
  span: Span,
): Promise<ProjectFacts['busiestMinute']> {
  const starts: number[] = [];
  for (let at = period.since; at < span.end; at += bucketMs) starts.push(at);
  const counts = await readReceived(client, [projectId], { ...span, starts });
  const busiest = counts
    .filter(({ status }) => status === 'queued')
    .toSorted((a, b) => b.requests - a.requests || a.step - b.step)
    .slice(0, halfHoursMax);
  let found: ProjectFacts['busiestMinute'] = null;
  for (const { step } of busiest) {
    const since = starts[step] as number;
    const halfHour = { since, until: Math.min(since + bucketMs, span.end) };
    const minute = await readInsightBusiestMinute(client, { projectId, period: halfHour });
    if (minute && minute.requests > (found?.requests ?? 0)) found = { ...minute, at: minute.at.getTime() };
  }
  return found;
}
