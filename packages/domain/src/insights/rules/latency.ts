import type { AttemptSums, EndpointFacts, ProjectFacts } from '../facts.ts';
import { newFinding, type Finding, type Rule, type Wording } from '../finding.ts';
import { literal, within } from '../sql-text.ts';

const attemptsMin = 20;
const slowMs = 2_000;
/** Faster endpoints vary by this factor without anything being wrong. */
const driftFromMs = 500;
const driftFactor = 2;
/** Where a busy moment makes attempts time out. */
const timeoutShare = 0.5;

/** Percentiles are within 5 %, so attempts from here on belong to the slowest twentieth. */
export function slowFromMs({ p95 }: Pick<AttemptSums, 'p95'>): number {
  return Math.floor(p95 * 0.95);
}

/** Whether an endpoint is slow at all: the others need no examples. */
export function isSlow({
  now,
  before,
  timeoutMs,
}: Pick<EndpointFacts, 'now' | 'before' | 'timeoutMs'>): boolean {
  if (!now || attemptsOf(now) < attemptsMin) return false;
  return now.p95 >= Math.min(slowMs, timeoutShare * timeoutMs) || hasDrifted(now, before);
}

/** Endpoints that take long, longer than before, or nearly as long as their timeout. */
export const findSlow: Rule = (facts, say) =>
  facts.endpoints.filter(isSlow).map((endpoint) => slowOf(facts, endpoint, say));

function slowOf(facts: ProjectFacts, endpoint: EndpointFacts, say: Wording): Finding {
  const { before, timeoutMs, id } = endpoint;
  const now = endpoint.now as AttemptSums;
  const isNear = now.p95 >= timeoutShare * timeoutMs;
  const drifted = hasDrifted(now, before);
  const was =
    before && attemptsOf(before) >= attemptsMin ? `, ${say.ms(before.p95)} in the period before` : '';
  const sentences = [
    `The slowest twentieth of the attempts to ${say.endpoint(endpoint)} takes ${say.ms(now.p95)} or more${was}; half take ${say.ms(now.p50)} or less.`,
    isNear ? `Its timeout is ${say.ms(timeoutMs)}: a busy moment will make attempts fail.` : '',
    drifted
      ? 'It has become slower: compare its deployments, its database and its traffic with the period before.'
      : '',
    'Answer with a 2xx first and do the work afterwards.',
  ];
  const from = slowFromMs(now);
  return newFinding(facts, [id], {
    kind: isNear ? 'timeout_near' : 'endpoint_slow',
    severity: isNear || drifted ? 'warning' : 'info',
    text: sentences.filter(Boolean).join(' '),
    counts: {
      attempts: attemptsOf(now),
      p50Ms: Math.round(now.p50),
      p95Ms: Math.round(now.p95),
      timeoutMs,
      ...(before && { p50MsBefore: Math.round(before.p50), p95MsBefore: Math.round(before.p95) }),
    },
    exampleIds: endpoint.slowIds,
    sql: `SELECT webhook_log_id, attempted_at, latency_ms, attempt_num, status, status_code, error
FROM delivery_attempts
WHERE project_id = ${literal(facts.projectId)} AND endpoint_id = ${literal(id)} AND ${within('attempted_at', facts.period)}
  AND latency_ms >= ${from}
ORDER BY attempted_at DESC LIMIT 1000;`,
  });
}

function hasDrifted(now: AttemptSums, before: AttemptSums | null): boolean {
  return (
    before !== null &&
    attemptsOf(before) >= attemptsMin &&
    now.p95 >= driftFromMs &&
    now.p95 >= driftFactor * before.p95
  );
}

function attemptsOf({ delivered, failed, deadLettered }: AttemptSums): number {
  return delivered + failed + deadLettered;
}
