import type { EndpointFacts, HeldReason, ProjectFacts, Waiting } from '../facts.ts';
import { newFinding, type Finding, type Rule, type Severity, type Wording } from '../finding.ts';
import { failedAttempts, literal } from '../sql-text.ts';

/** Endpoints that the relay disabled after a 410. */
export const findDisabled: Rule = (facts, say) =>
  facts.endpoints
    .filter(({ state }) => state === 'disabled_by_relay')
    .map((endpoint) => {
      const answer = endpoint.failures.find(({ statusCode }) => statusCode === 410);
      const held = endpoint.held.find(({ reason }) => reason === 'disabled');
      return newFinding(facts, [endpoint.id], {
        kind: 'endpoint_disabled',
        severity: 'critical',
        text:
          `${say.endpoint(endpoint)} answered HTTP 410 (Gone), so the relay disabled it and holds what comes for it` +
          `${held ? `: ${atLeast(held, say)} wait` : ''}. Enable it when it takes webhooks again; disable it yourself when it is not ` +
          'coming back.',
        counts: { held: held?.count ?? 0 },
        exampleIds: answer?.exampleIds ?? held?.exampleIds ?? [],
        sql: answer
          ? failedAttempts(endpoint.id, facts.period, ' AND status_code = 410')
          : heldSql(endpoint.id, 'disabled'),
      });
    });

/** Dead letters that were not replayed. */
export const findDeadLetters: Rule = (facts, say) =>
  facts.endpoints.flatMap((endpoint) => {
    const { deadLetters } = endpoint;
    if (!deadLetters) return [];
    return newFinding(facts, [endpoint.id], {
      kind: 'dead_letters',
      severity: 'warning',
      text:
        `${atLeast(deadLetters, say)} deliveries to ${say.endpoint(endpoint)} used up their schedule and were not replayed, ` +
        `since ${say.time(deadLetters.oldestAt)}. Repair the endpoint, then replay its dead letters.`,
      counts: { deadLetters: deadLetters.count },
      exampleIds: deadLetters.exampleIds,
      sql: `SELECT webhook_log_id, dead_at, reason, id AS delivery_id
FROM dead_letters
WHERE endpoint_id = ${literal(endpoint.id)} AND kind = 'delivery' AND replayed_at IS NULL
ORDER BY dead_at DESC LIMIT 1000;`,
    });
  });

const hourMs = 3_600_000;

const why: Readonly<Record<HeldReason, string>> = {
  paused: 'The endpoint is paused: resume it, and they are delivered, the oldest first.',
  disabled: 'The endpoint is disabled: enable it, and they are delivered, the oldest first.',
  breaker: 'The endpoint fails, and the relay tries it with one delivery at a time until it answers.',
  order: 'An earlier delivery of the same ordering key has not ended: see what it waits for.',
};

/** Deliveries that are held for a reason that does not pass by itself. */
export const findHeld: Rule = (facts, say) =>
  facts.endpoints.flatMap((endpoint) =>
    endpoint.held
      .filter(({ reason, oldestAt }) => reason !== 'order' || oldestAt < facts.period.until - hourMs)
      .map((held) => heldOf(facts, endpoint, held, say)),
  );

function heldOf(
  facts: ProjectFacts,
  endpoint: EndpointFacts,
  held: EndpointFacts['held'][number],
  say: Wording,
): Finding {
  return newFinding(facts, [endpoint.id, held.reason], {
    kind: 'deliveries_held',
    severity: severityOf(held, facts.period.until),
    text: `${atLeast(held, say)} deliveries to ${say.endpoint(endpoint)} are held since ${say.time(held.oldestAt)}. ${why[held.reason]}`,
    counts: { held: held.count },
    exampleIds: held.exampleIds,
    sql: heldSql(endpoint.id, held.reason),
  });
}

function severityOf({ reason, oldestAt }: EndpointFacts['held'][number], until: number): Severity {
  return reason === 'paused' && oldestAt > until - 24 * hourMs ? 'info' : 'warning';
}

function heldSql(endpointId: string, reason: HeldReason): string {
  return `SELECT webhook_log_id, held_at, due_at, ordering_key, delivery_id
FROM held_deliveries
WHERE endpoint_id = ${literal(endpointId)} AND reason = ${literal(reason)}
ORDER BY webhook_log_id LIMIT 1000;`;
}

function atLeast({ count, isCapped }: Waiting, say: Wording): string {
  return isCapped ? `At least ${say.count(count)}` : say.count(count);
}
