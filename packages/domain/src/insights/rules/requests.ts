import { explainReason } from '../../inbound/rejection-reason.ts';
import type { NotQueuedGroup, ProjectFacts } from '../facts.ts';
import { newFinding, type Finding, type Rule, type Severity, type Wording } from '../finding.ts';
import { has, literal, webhooks } from '../sql-text.ts';

/** Requests that were refused, by reason, and those whose id had been accepted before. */
export const findNotQueued: Rule = (facts, say) =>
  facts.notQueued.flatMap((group) => {
    switch (group.status) {
      case 'rejected':
      case 'failed_to_queue':
        return rejectedOf(facts, group, say);
      case 'rate_limited':
        return rateLimitedOf(facts, group, say);
      case 'conflict':
        return conflictOf(facts, group, say);
      case 'duplicate':
        return duplicatesOf(facts, group, say);
    }
  });

type Described = Pick<Finding, 'kind' | 'severity' | 'text'> & { counts?: Finding['counts'] };

function findingOf(facts: ProjectFacts, group: NotQueuedGroup, described: Described): Finding {
  const { status, code, requests, addresses, exampleIds } = group;
  const ofCode = code === null ? ' AND reason IS NULL' : ` AND split_part(reason, ' ', 1) = ${literal(code)}`;
  return newFinding(facts, [status, code], {
    ...described,
    counts: { requests, addresses, ...described.counts },
    exampleIds,
    sql: webhooks(facts.projectId, facts.period, ` AND status = ${literal(status)}${ofCode}`),
  });
}

function rejectedOf(facts: ProjectFacts, group: NotQueuedGroup, say: Wording): Finding {
  const { code, requests, addresses } = group;
  const accepted = facts.received.now.queued;
  const share = shareOf(facts, group);
  const isOurs = group.status === 'failed_to_queue';
  const severity: Severity =
    isOurs || (share >= 0.5 && requests >= 10) ? 'critical' : share >= 0.05 ? 'warning' : 'info';
  const explanation = code === null ? undefined : explainReason(code)?.explanation;
  return findingOf(facts, group, {
    kind: 'requests_rejected',
    severity,
    text:
      `${say.count(requests)} requests were refused with ${code === null ? 'no reason' : say.quoted(code)}, ${timesOf(group, say)}, from ` +
      `${say.count(addresses)} ${addresses === 1 ? 'address' : 'addresses'}; ${say.count(accepted)} were accepted. ` +
      (explanation ?? 'See the reason of each.'),
    counts: { accepted },
  });
}

function rateLimitedOf(facts: ProjectFacts, group: NotQueuedGroup, say: Wording): Finding {
  const limit = facts.rateLimitPerMinute;
  return findingOf(facts, group, {
    kind: 'requests_rate_limited',
    severity: 'warning',
    text:
      `${say.count(group.requests)} requests were answered 429, ${timesOf(group, say)}` +
      `${limit === null ? '' : `: the project may send ${say.count(limit)} a minute`}. Raise its rate limit if they are its own.`,
    ...(limit !== null && { counts: { rateLimitPerMinute: limit } }),
  });
}

function conflictOf(facts: ProjectFacts, group: NotQueuedGroup, say: Wording): Finding {
  return findingOf(facts, group, {
    kind: 'conflicts',
    severity: 'warning',
    text:
      `${say.quoted(facts.provider)} sent ${say.count(group.requests)} requests with an id that was accepted before with another body, ` +
      `${timesOf(group, say)}. Compare the two bodies: where the sender writes the same event anew for a retry, set the project to ` +
      'on-conflict duplicate; where two events have one id, the sender is at fault.',
  });
}

/**
 * The share of a group among itself and what was accepted. The groups are of the newest rows: where the period has more, the total of
 * their status is divided among them as these are.
 */
function shareOf(
  { received: { now }, notQueued }: ProjectFacts,
  { status, requests }: NotQueuedGroup,
): number {
  const examined = notQueued.reduce((sum, group) => sum + (group.status === status ? group.requests : 0), 0);
  const ofPeriod = requests * Math.max(1, now[status] / examined);
  return ofPeriod / (ofPeriod + now.queued);
}

const duplicateShare = 0.2;
const duplicatesMin = 5;

function duplicatesOf(facts: ProjectFacts, group: NotQueuedGroup, say: Wording): Finding[] {
  const { queued } = facts.received.now;
  const share = shareOf(facts, group);
  if (group.requests < duplicatesMin || share < duplicateShare) return [];
  return [
    findingOf(facts, group, {
      kind: 'duplicates',
      severity: share >= 0.5 ? 'warning' : 'info',
      text:
        `${say.quoted(facts.provider)} sent ${say.count(group.requests)} requests again that were accepted before, ` +
        `${timesOf(group, say)}: ${say.percent(share)} of its requests. No endpoint got them twice. A sender repeats what it ` +
        'believes is lost: look at the time that the receiver takes to answer, and at proxies in front of it.',
      counts: { accepted: queued },
    }),
  ];
}

function timesOf({ firstAt, lastAt }: NotQueuedGroup, say: Wording): string {
  return `from ${say.time(firstAt)} to ${say.time(lastAt)}`;
}

/** Event types that no endpoint took. */
export const findUntaken: Rule = (facts, say) =>
  facts.untaken.groups.map(({ eventType, webhooks: count, exampleIds }) => {
    const hasEndpoint = facts.endpoints.some(({ state }) => state !== 'disabled_by_person');
    return newFinding(facts, [eventType], {
      kind: 'event_type_untaken',
      severity: hasEndpoint ? 'info' : 'warning',
      text:
        `${say.count(count)} of the newest ${say.count(facts.untaken.examined)} requests are webhooks ` +
        `${eventType === null ? 'without an event type' : `of the event type ${say.quoted(eventType)}`} that no endpoint takes: they were ` +
        `accepted and delivered nowhere. ${hasEndpoint ? 'Add the type to an endpoint, or stop the provider from sending it.' : 'The project has no enabled endpoint.'}`,
      counts: { webhooks: count, examined: facts.untaken.examined },
      exampleIds,
      sql: webhooks(
        facts.projectId,
        facts.period,
        ` AND status = 'queued' AND endpoint_ids = '{}' AND ${has('event_type', eventType)}`,
      ),
    });
  });
