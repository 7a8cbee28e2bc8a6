import type { Queryable } from '@hqrelay/db/queryable';
import {
  readInsightDeadLetters,
  readInsightEndpoints,
  readInsightFailures,
  readInsightHeld,
  readInsightSecondAttempts,
  readInsightSlowIds,
  type InsightEndpoint,
  type InsightFailures,
  type InsightSecondAttempts,
  type InsightWaiting,
} from '@hqrelay/db/queries/insight-endpoints';
import { readAttemptCounts, type AttemptCount, type Span } from '@hqrelay/db/queries/statistics';
import type { AttemptSums, EndpointFacts, Period, ProjectFacts } from '@hqrelay/domain/insights/facts';
import { isSlow, slowFromMs } from '@hqrelay/domain/insights/rules/latency';
import { readCountedSpan } from './counted-span.ts';
import { readRequestFacts, type AskedProject } from './read-request-facts.ts';

/** What the rules need to know of a project. Without `showsAnswers` the answers of endpoints are left out. */
export async function readFacts(
  client: Queryable,
  asked: { project: AskedProject; period: Period; showsAnswers: boolean },
): Promise<ProjectFacts> {
  const { project, period } = asked;
  const { span, hasBefore } = await readCountedSpan(client, period);
  return {
    projectId: project.id,
    provider: project.provider,
    rateLimitPerMinute: project.rateLimitPerMinute,
    period,
    endpoints: await readEndpointFacts(client, asked, { span, hasBefore }),
    ...(await readRequestFacts(client, { project, period }, { span, hasBefore })),
  };
}

async function readEndpointFacts(
  client: Queryable,
  { project, period, showsAnswers }: { project: AskedProject; period: Period; showsAnswers: boolean },
  { span, hasBefore }: { span: Span; hasBefore: boolean },
): Promise<EndpointFacts[]> {
  const rows = await readInsightEndpoints(client, project.id);
  const counts = await readAttemptCounts(client, { projectIds: [project.id], byEndpoint: true }, span);
  const endpoints = rows.map((row) => endpointOf(row, counts, hasBefore));
  const ids = endpoints.map(({ id }) => id);
  const failing = failingFirst(endpoints);
  const failures = await readInsightFailures(client, failing, period);
  const second = await readInsightSecondAttempts(client, failing, period);
  const dead = await readInsightDeadLetters(client, ids);
  const held = await readInsightHeld(client, ids);
  const slow = endpoints
    .filter(isSlow)
    .map(({ id, now }) => ({ endpointId: id, fromMs: slowFromMs(now as AttemptSums) }));
  const slowIds = slow.length === 0 ? [] : await readInsightSlowIds(client, project.id, slow, period);
  return endpoints.map((endpoint) =>
    withEvidence(endpoint, { failures, second, dead, held, slowIds, showsAnswers }),
  );
}

type Evidence = {
  failures: readonly InsightFailures[];
  second: readonly InsightSecondAttempts[];
  dead: readonly InsightWaiting[];
  held: Awaited<ReturnType<typeof readInsightHeld>>;
  slowIds: Awaited<ReturnType<typeof readInsightSlowIds>>;
  showsAnswers: boolean;
};

function withEvidence(endpoint: EndpointFacts, evidence: Evidence): EndpointFacts {
  const own = <Row extends { endpointId: string }>(rows: readonly Row[]) =>
    rows.filter(({ endpointId }) => endpointId === endpoint.id);
  const failures = own(evidence.failures).slice(0, groupsMax);
  return {
    ...endpoint,
    failures: failures.map(({ firstAt, lastAt, responseBody, ...group }) => ({
      ...group,
      firstAt: firstAt.getTime(),
      lastAt: lastAt.getTime(),
      responseBody: evidence.showsAnswers ? responseBody : null,
    })),
    secondAttempts: own(evidence.second)[0] ?? endpoint.secondAttempts,
    deadLetters: own(evidence.dead).map(waitingOf)[0] ?? null,
    held: own(evidence.held).map((each) => ({ ...waitingOf(each), reason: each.reason })),
    slowIds: own(evidence.slowIds)[0]?.exampleIds ?? [],
  };
}

/** Status codes and errors of one endpoint. */
const groupsMax = 5;
/** Endpoints whose failed attempts are read. */
const failingMax = 20;

/** The endpoints with the most failures of the period. */
function failingFirst(endpoints: readonly EndpointFacts[]): string[] {
  const failed = ({ now }: EndpointFacts) => (now ? now.failed + now.deadLettered : 0);
  return endpoints
    .filter((endpoint) => failed(endpoint) > 0)
    .toSorted((a, b) => failed(b) - failed(a))
    .slice(0, failingMax)
    .map(({ id }) => id);
}

function endpointOf(
  row: InsightEndpoint,
  counts: readonly AttemptCount[],
  hasBefore: boolean,
): EndpointFacts {
  const sums = (step: number) =>
    sumsOf(counts.find((count) => count.step === step && count.endpointId === row.id));
  return {
    id: row.id,
    url: row.url,
    timeoutMs: row.timeoutMs,
    state: stateOf(row),
    failingSince: row.failingSince?.getTime() ?? null,
    now: sums(1),
    before: hasBefore ? sums(0) : null,
    failures: [],
    secondAttempts: { recorded: 0, delivered: 0, exampleIds: [] },
    deadLetters: null,
    held: [],
    slowIds: [],
  };
}

function stateOf({ enabled, disabledBy, paused }: InsightEndpoint): EndpointFacts['state'] {
  if (enabled) return paused ? 'paused' : 'enabled';
  return disabledBy === 'relay' ? 'disabled_by_relay' : 'disabled_by_person';
}

function sumsOf(count: AttemptCount | undefined): AttemptSums | null {
  if (!count?.attemptMs) return null;
  const { delivered, failed, dead_lettered: deadLettered, attemptMs } = count;
  return { delivered, failed, deadLettered, p50: attemptMs.p50, p95: attemptMs.p95 };
}

function waitingOf({ count, isCapped, oldestAt, exampleIds }: InsightWaiting) {
  return { count, isCapped, oldestAt: oldestAt.getTime(), exampleIds };
}
