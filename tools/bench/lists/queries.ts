import type { Queryable } from '@hqrelay/db/queryable';
import { readAttemptCounts, readCounted, readReceived } from '@hqrelay/db/queries/statistics';
import { divide, type StatisticsStep } from '@hqrelay/db/queries/statistics-steps';
import { search } from '@hqrelay/db/queries/search';
import type { WebhookFilter } from '@hqrelay/db/queries/webhook-filter';
import { countWebhooks, readWebhookList } from '@hqrelay/db/queries/webhook-list';
import { readProjectPage } from '@hqrelay/db/queries/projects';
import { readFacts } from '@hqrelay/insights/read-facts';

export type BenchQuery = { name: string; boundMs: number; run: (client: Queryable) => Promise<unknown> };

/** The project with a fifth of the webhooks, one of its webhooks in the middle, its endpoint, and all projects of a page. */
export type Subject = {
  projectId: string;
  endpointId: string;
  middle: { id: string; at: number; webhookId: string; correlationId: string };
  projectIds: string[];
  now: number;
};

const dayMs = 86_400_000;
const listMs = 50;
const statisticsMs = 200;
/** Of thirteen statements. */
const insightsMs = 500;
const page = { position: null, direction: 'older', limit: 50 } as const;

export function queriesOf(subject: Subject): BenchQuery[] {
  return [...lists(subject), ...searches(subject), ...statistics(subject), ...insights(subject)];
}

function lists({ projectId, endpointId, middle, now }: Subject): BenchQuery[] {
  const period = { projectId, since: now - 90 * dayMs, until: now };
  const list = (
    name: string,
    filter: Partial<WebhookFilter>,
    position: typeof page | object = {},
  ): BenchQuery => ({
    name: `list: ${name}`,
    boundMs: listMs,
    run: (client) => readWebhookList(client, { ...period, ...filter }, { ...page, ...position }),
  });
  return [
    list('no filter', {}),
    list('a page in the middle', {}, { position: middle }),
    list('a page in the middle, back', {}, { position: middle, direction: 'newer' }),
    list('one day', { since: middle.at - dayMs, until: middle.at }),
    list('status=rejected', { status: 'rejected' }),
    list('reason', { reason: 'signature.mismatch' }),
    list('state=delivered', { state: 'delivered' }),
    list('state=dead_lettered', { state: 'dead_lettered' }),
    list('state=held', { state: 'held' }),
    list('state=waiting', { state: 'waiting' }),
    list('statusClass=5xx', { statusClass: '5xx' }),
    list('statusClass=none', { statusClass: 'none' }),
    list('error', { error: 'certificate' }),
    list('minAttempts=2', { minAttempts: 2 }),
    list('minAttempts=3, of none', { minAttempts: 3 }),
    list('eventType', { eventType: 'type.3' }),
    list('eventType that never came', { eventType: 'none' }),
    list('endpointId', { endpointId }),
    list('webhookId', { webhookId: middle.webhookId }),
    list('correlationId of a client', { correlationId: middle.correlationId }),
    list('correlationId that never came', { correlationId: 'none' }),
    list('q that is nowhere', { q: 'nowhere' }),
    list('state=held, endpointId and status', { state: 'held', endpointId, status: 'queued' }),
    { name: 'count: no filter', boundMs: listMs, run: (client) => countWebhooks(client, period) },
    {
      name: 'list of projects',
      boundMs: listMs,
      run: (client) => readProjectPage(client, { projectId: null, archivedToo: false }, page),
    },
  ];
}

function searches({ middle }: Subject): BenchQuery[] {
  const find = (name: string, q: string): BenchQuery => ({
    name: `search: ${name}`,
    boundMs: listMs,
    run: (client) => search(client, { q, projectId: null, searchPayloads: true }),
  });
  return [
    find('id of a webhook', middle.id),
    find("provider's id", middle.webhookId),
    find('correlation id of a client', middle.correlationId),
    find('text that is nowhere', 'nowhere'),
  ];
}

function statistics({ projectId, projectIds, now }: Subject): BenchQuery[] {
  const read = (
    name: string,
    { step, days, projects = [projectId], byEndpoint = false, times = true }: StatisticsRead,
  ): BenchQuery => ({
    name: `statistics: ${name}`,
    boundMs: statisticsMs,
    run: async (client) => {
      const divided = await divide(
        client,
        { since: now - days * dayMs, until: now, step, timeZone: 'Asia/Kolkata' },
        1_000,
      );
      if (divided.kind !== 'steps') throw new Error(divided.kind);
      const span = { ...divided, rowsFrom: (await readCounted(client)).to };
      await readReceived(client, projects, span);
      await readAttemptCounts(client, { projectIds: projects, byEndpoint, times }, span);
    },
  });
  return [
    read('30 days by day', { step: '1d', days: 30 }),
    read('30 days by hour', { step: '1h', days: 30 }),
    read('30 days by day and endpoint', { step: '1d', days: 30, byEndpoint: true }),
    read('one day of 50 projects by hour', { step: '1h', days: 1, projects: projectIds, times: false }),
  ];
}

function insights({ projectId, now }: Subject): BenchQuery[] {
  const project = { id: projectId, provider: 'generic', rateLimitPerMinute: 100 };
  const read = (days: number): BenchQuery => {
    const since = now - days * dayMs;
    const period = { since, until: now, previousSince: since - days * dayMs };
    return {
      name: `insights: ${days === 1 ? 'one day' : `${days} days`}`,
      boundMs: insightsMs,
      run: (client) => readFacts(client, { project, period, showsAnswers: true }),
    };
  };
  return [read(1), read(15)];
}

type StatisticsRead = {
  step: StatisticsStep;
  days: number;
  projects?: string[];
  byEndpoint?: boolean;
  times?: boolean;
};
