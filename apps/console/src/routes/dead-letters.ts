import { readDeadLetterList } from '@hqrelay/db/queries/dead-letters';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { z } from 'zod';
import { readPage } from '../api/page.ts';
import { defineRoute } from '../api/route.ts';
import { id, moment, pageOf, pageQuery, queryFlag, time, uuid } from '../schemas/fields.ts';
import { mapItems } from './map-reply.ts';

const deadLetter = z
  .object({
    id: id.describe('Of the delivery.'),
    kind: z.enum(['delivery', 'message', 'audit_row']),
    reason: z.string(),
    projectId: id.nullable(),
    webhookLogId: id.nullable().describe('The id of the webhook.'),
    webhookId: z.string().nullable().describe("The provider's id."),
    endpointId: id.nullable(),
    endpointUrl: z.string().nullable(),
    attempts: z.int(),
    lastStatusCode: z.int().nullable(),
    lastError: z.string().nullable(),
    deadAt: time,
    replayId: id.nullable().describe('Null where the payload was erased or the delivery cancelled instead.'),
    replayedAt: time.nullable().describe('When it was replayed, or closed by an erasure or a cancellation.'),
  })
  .meta({ id: 'DeadLetter', description: 'A delivery that used up its schedule.' });

export const deadLetterRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}/dead-letters',
    name: 'listDeadLetters',
    summary: 'The dead letters of a project that were not replayed, the newest first',
    tag: 'Replays',
    role: 'viewer',
    params: z.strictObject({ projectId: uuid }),
    names: { projectId: 'project' },
    query: z.strictObject({
      ...pageQuery,
      endpointId: uuid.optional(),
      since: moment.optional().describe('Died then or later.'),
      until: moment.optional().describe('Died before.'),
      replayed: queryFlag.optional().describe('true lists those that were replayed too.'),
    }),
    statusCode: 200,
    answer: pageOf(deadLetter).meta({ id: 'DeadLetterPage' }),
    handle: async ({ reads }, { params: { projectId }, query }) => {
      const { limit, cursor, replayed: all = false, ...asked } = query;
      const filter = { projectId, ...asked };
      const page = await readPage(
        { list: 'dead-letters', all, ...filter },
        { limit, cursor },
        (request) => readDeadLetterList(reads, { filter, all }, request),
        (row) => ({ at: row.deadAt.getTime(), id: row.id }),
      );
      return mapItems(page, (row) => ({
        ...row,
        endpointUrl: row.endpointUrl === null ? null : redactUrl(row.endpointUrl),
      }));
    },
  }),
];
