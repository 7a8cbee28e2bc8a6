import { countWebhooks, readWebhookList } from '@hqrelay/db/queries/webhook-list';
import { z } from 'zod';
import { readPage } from '../api/page.ts';
import { defineRoute, refuse, reply, type ApiRefusal } from '../api/route.ts';
import { pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { listedWebhook, webhookCount } from '../schemas/webhook.ts';
import { filterQuery } from '../schemas/webhook-filter.ts';

const tag = 'Webhooks';
const params = z.strictObject({ projectId: uuid });
const names = { projectId: 'project' } as const;
const path = '/api/v1/projects/{projectId}/webhooks';

const dayMs = 86_400_000;
export const periodDefaultMs = 90 * dayMs;
/** The clocks of receivers may be ahead. */
const clockSkewMs = 60_000;

type Filter = z.output<z.ZodObject<typeof filterQuery>>;

export const webhookRoutes = [
  defineRoute({
    method: 'get',
    path,
    name: 'listWebhooks',
    summary: 'The webhooks of a project, the newest first',
    tag,
    role: 'viewer',
    params,
    names,
    query: z.strictObject({ ...pageQuery, ...filterQuery }),
    statusCode: 200,
    answer: pageOf(listedWebhook).meta({
      id: 'WebhookPage',
      description:
        'A filter that matches few webhooks may give a short or empty page with a nextCursor: go on there.',
    }),
    handle: async (
      { caller, reads, now },
      { params: { projectId }, query: { limit, cursor, ...filter } },
    ) => {
      const refused = refusePayloadSearch(caller, filter);
      if (refused) return refused;
      return readPage(
        { list: 'webhooks', projectId, ...filter },
        { limit, cursor },
        (request) => readWebhookList(reads, { projectId, ...filter, ...periodOf(filter, now()) }, request),
        (row) => ({ at: row.receivedAt.getTime(), id: row.id }),
      );
    },
  }),
  defineRoute({
    method: 'get',
    path: `${path}/count`,
    name: 'countWebhooks',
    summary: 'How many webhooks a filter matches, up to 10,000',
    tag,
    role: 'viewer',
    params,
    names,
    query: z.strictObject(filterQuery),
    statusCode: 200,
    answer: webhookCount,
    handle: async ({ caller, reads, now }, { params: { projectId }, query: filter }) =>
      refusePayloadSearch(caller, filter) ??
      reply(await countWebhooks(reads, { projectId, ...filter, ...periodOf(filter, now()) })),
  }),
];

export function refusePayloadSearch(
  { hidePayloads }: { hidePayloads: boolean },
  { q }: Pick<Filter, 'q'>,
): ApiRefusal | undefined {
  return hidePayloads && q !== undefined
    ? refuse(403, 'access.hides_payloads', 'payloads are hidden from you: you cannot search them')
    : undefined;
}

function periodOf({ since, until }: Filter, now: number): { since: number; until: number } {
  const end = until ?? now + clockSkewMs;
  return { since: since ?? end - periodDefaultMs, until: end };
}
