import { newFinding, type Rule } from '../finding.ts';
import { webhooks } from '../sql-text.ts';

const nearShare = 0.8;
const minuteMs = 60_000;

/** A rate limit that was nearly met. */
export const findNearLimit: Rule = (facts, say) => {
  const { rateLimitPerMinute: limit, busiestMinute, projectId } = facts;
  const isLimited = facts.received.now.rate_limited > 0;
  if (limit === null || !busiestMinute || isLimited || busiestMinute.requests < nearShare * limit) return [];
  const { at, requests, exampleIds } = busiestMinute;
  return [
    newFinding(facts, [], {
      kind: 'rate_limit_near',
      severity: 'warning',
      text:
        `The project received ${say.count(requests)} webhooks in the minute of ${say.time(at)}, and may receive ${say.count(limit)} a ` +
        'minute. More are answered 429: raise its rate limit before that.',
      counts: { requestsInMinute: requests, rateLimitPerMinute: limit },
      exampleIds,
      sql: webhooks(projectId, { since: at, until: at + minuteMs }, " AND status = 'queued'"),
    }),
  ];
};

const webhooksMin = 20;
const changeFactor = 2;

/** A project that receives far less or far more than in the period before. */
export const findChangedVolume: Rule = (facts, say) => {
  const { received, period, projectId, newestIds } = facts;
  if (!received.before) return [];
  const [now, before] = [received.now.queued, received.before.queued];
  const fell = before >= webhooksMin && now * changeFactor <= before;
  const rose = now >= webhooksMin && now >= changeFactor * before && before > 0;
  if (!fell && !rose) return [];
  return [
    newFinding(facts, [fell ? 'fell' : 'rose'], {
      kind: 'volume_changed',
      severity: fell ? 'warning' : 'info',
      text:
        `The project received ${say.count(now)} webhooks, and ${say.count(before)} in the period before, from ` +
        `${say.time(period.previousSince)}. ${fell ? 'Ask the provider whether it still sends all of them.' : 'Its endpoints have more to do.'}`,
      counts: { webhooks: now, webhooksBefore: before },
      since: period.previousSince,
      exampleIds: newestIds,
      sql: webhooks(
        projectId,
        { since: period.previousSince, until: period.until },
        " AND status = 'queued'",
      ),
    }),
  ];
};
