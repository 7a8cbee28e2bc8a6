import { explainFailure } from '../explain-failure.ts';
import type { AttemptSums, EndpointFacts, FailureGroup, ProjectFacts } from '../facts.ts';
import { newFinding, type Finding, type Rule, type Severity, type Wording } from '../finding.ts';
import { failedAttempts, has, literal, within } from '../sql-text.ts';

/** What a worker writes for an answer; every other error may repeat words of the endpoint. */
const ownError = /^(HTTP \d{3}|redirect \d{3} not followed)$/;

/** One finding for each endpoint, status code and error. */
export const findFailures: Rule = (facts, say) =>
  facts.endpoints.flatMap((endpoint) =>
    endpoint.failures.map((group) => failureOf(facts, endpoint, group, say)),
  );

function failureOf(facts: ProjectFacts, endpoint: EndpointFacts, group: FailureGroup, say: Wording): Finding {
  const { now, before } = endpoint;
  const { statusCode, error } = group;
  const attempts = now ? total(now) : group.attempts;
  const failed = now ? now.failed + now.deadLettered : group.attempts;
  const counts = {
    failedAttempts: group.attempts,
    attemptsOfEndpoint: attempts,
    failedAttemptsOfEndpoint: failed,
    deadLetters: now?.deadLettered ?? 0,
    ...(before && {
      attemptsBefore: total(before),
      failedAttemptsBefore: before.failed + before.deadLettered,
    }),
  };
  const sentences = [
    `${say.endpoint(endpoint)} failed ${say.count(group.attempts)} ${group.attempts === 1 ? 'attempt' : 'attempts'} with ` +
      `${causeOf(group, say)}, from ${say.time(group.firstAt)} to ${say.time(group.lastAt)}.`,
    `Of all its attempts ${say.percent(failed / attempts)} failed${beforeOf(before, say)}.`,
    stateOf(endpoint, say),
    explainFailure(group),
    group.responseBody
      ? `Its newest answer began ${say.quoted(group.responseBody, group.exampleIds[0])}.`
      : '',
  ];
  return newFinding(facts, [endpoint.id, statusCode, error], {
    kind: 'endpoint_failing',
    severity: severityOf(endpoint, failed / attempts, failed),
    text: sentences.filter(Boolean).join(' '),
    counts,
    exampleIds: group.exampleIds,
    sql: failedAttempts(
      endpoint.id,
      facts.period,
      ` AND ${has('status_code', statusCode)} AND ${has('error', error)}`,
    ),
  });
}

function causeOf({ error, exampleIds }: FailureGroup, say: Wording): string {
  if (error === null) return 'no error';
  return ownError.test(error) ? error : say.quoted(error, exampleIds[0]);
}

function total({ delivered, failed, deadLettered }: AttemptSums): number {
  return delivered + failed + deadLettered;
}

function beforeOf(before: AttemptSums | null, say: Wording): string {
  if (!before || total(before) === 0) return '';
  return `, ${say.percent((before.failed + before.deadLettered) / total(before))} in the period before`;
}

function stateOf({ failingSince, state }: EndpointFacts, say: Wording): string {
  return failingSince === null || state !== 'enabled'
    ? ''
    : `It has failed since ${say.time(failingSince)} without a delivery.`;
}

function severityOf(endpoint: EndpointFacts, share: number, failed: number): Severity {
  const { failingSince, now, state } = endpoint;
  const isFailing = state === 'enabled' && (failingSince !== null || now?.delivered === 0);
  if (share >= 0.5 && failed >= 3 && isFailing) return 'critical';
  return isFailing || share >= 0.05 || (now?.deadLettered ?? 0) > 0 ? 'warning' : 'info';
}

const secondAttemptsMin = 5;
const shareMin = 0.95;

/** Endpoints where the first retry nearly always helps: their failures have a cause that passes within seconds. */
export const findHealingRetries: Rule = (facts, say) =>
  facts.endpoints
    .filter(
      ({ secondAttempts: { recorded, delivered } }) =>
        recorded >= secondAttemptsMin && delivered >= shareMin * recorded,
    )
    .map((endpoint) => {
      const { recorded, delivered, exampleIds } = endpoint.secondAttempts;
      return newFinding(facts, [endpoint.id], {
        kind: 'second_attempt_succeeds',
        severity: 'info',
        text:
          `Of ${say.count(recorded)} deliveries to ${say.endpoint(endpoint)} whose first attempt failed, the second attempt delivered ` +
          `${say.count(delivered)}. The cause passes within the first delay of the schedule: a cold start, a deployment, or a proxy ` +
          'that ends idle connections.',
        counts: { secondAttempts: recorded, deliveredBySecondAttempt: delivered },
        exampleIds,
        sql: secondAttemptsSql(endpoint.id, facts),
      });
    });

function secondAttemptsSql(endpointId: string, { period }: ProjectFacts): string {
  return `SELECT f.webhook_log_id, f.attempted_at, f.error, s.attempted_at AS second_attempt_at, s.status AS second_status
FROM delivery_attempts f
JOIN delivery_attempts s ON s.webhook_log_id = f.webhook_log_id AND s.delivery_id = f.delivery_id AND s.attempt_num = 2
  AND ${within('s.attempted_at', period)}
WHERE f.endpoint_id = ${literal(endpointId)} AND f.status <> 'delivered' AND f.attempt_num = 1 AND ${within('f.attempted_at', period)}
ORDER BY f.attempted_at DESC LIMIT 1000;`;
}
