import { readAdminLogPage } from '@hqrelay/db/queries/admin-log';
import { z } from 'zod';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute, refuse } from '../api/route.ts';
import { id, pageOf, pageQuery, time, uuid } from '../schemas/fields.ts';

const entry = z
  .object({
    id,
    actor: z.string().describe('cli:<user>, key:<id>, session:<subject> or relay.'),
    action: z.string().describe('noun.verb'),
    projectId: id.nullable(),
    target: z.string().nullable().describe('The id of the changed thing.'),
    details: z.record(z.string(), z.unknown()).describe('before and after of what changed, without secrets.'),
    createdAt: time,
  })
  .meta({ id: 'AdminLogEntry', description: 'One change.' });

export const adminLogRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/admin-log',
    name: 'listAdminLog',
    summary: 'Every change by the command line, the API and the relay, the newest first',
    tag: 'Access',
    role: 'viewer',
    query: z.strictObject({
      ...pageQuery,
      projectId: uuid.optional(),
      target: uuid.optional().describe('The id of a changed thing.'),
    }),
    refusals: [404],
    statusCode: 200,
    answer: pageOf(entry).meta({ id: 'AdminLogPage' }),
    handle: async ({ caller, reads }, { query: { projectId: asked, target, ...page } }) => {
      if (asked !== undefined && caller.projectId !== null && asked !== caller.projectId) {
        return refuse(404, 'project.not_found', `there is no project ${asked}`);
      }
      const filter = { projectId: asked ?? caller.projectId, target };
      return readPage(
        { list: 'admin-log', ...filter },
        page,
        async (request) =>
          (await readAdminLogPage(reads, filter, request)).map((row) => ({
            ...row,
            details: row.details as Record<string, unknown>,
          })),
        byCreation,
      );
    },
  }),
];
