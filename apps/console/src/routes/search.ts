import { search } from '@hqrelay/db/queries/search';
import { z } from 'zod';
import { defineRoute, reply } from '../api/route.ts';
import { id, time } from '../schemas/fields.ts';

const searchResult = z
  .object({
    items: z.array(
      z.object({
        kind: z.enum(['project', 'endpoint', 'webhook', 'delivery']),
        id,
        projectId: id,
        webhookLogId: id.nullable().describe('The id of the webhook.'),
      }),
    ),
    scanned: z
      .object({
        from: time.nullable(),
        to: time.nullable(),
        rows: z.int(),
        complete: z.boolean().describe('Whether these are all webhooks that there are.'),
      })
      .describe(
        'The newest webhooks that were looked at one by one; ids that an index finds are found in all.',
      ),
  })
  .meta({ id: 'SearchResult' });

export const searchRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/search',
    name: 'search',
    summary:
      'What has this id, the relay’s or the provider’s, or this text in its payload, over all projects that you see',
    tag: 'Webhooks',
    role: 'viewer',
    query: z.strictObject({
      q: z
        .string()
        .trim()
        .min(3)
        .max(255)
        .describe(
          'An id of a project, endpoint, webhook, delivery, a provider’s id, a correlation id, or text in a payload.',
        ),
    }),
    statusCode: 200,
    answer: searchResult,
    handle: async ({ reads, caller }, { query: { q } }) =>
      reply(await search(reads, { q, projectId: caller.projectId, searchPayloads: !caller.hidePayloads })),
  }),
];
