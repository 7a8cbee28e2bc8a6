import { changeProject, type ProjectChange } from '@hqrelay/actions/project/change-project';
import { createProject } from '@hqrelay/actions/project/create-project';
import { readProjectAttention } from '@hqrelay/db/queries/project-attention';
import { readProject, readProjectPage, type Project } from '@hqrelay/db/queries/projects';
import { z } from 'zod';
import { byCreation, readPage } from '../api/page.ts';
import type { RequestContext } from '../api/request-context.ts';
import { defineRoute, refuse, reply } from '../api/route.ts';
import { pageOf, pageQuery, queryFlag, uuid } from '../schemas/fields.ts';
import { createdProject, newProject, project, projectAttention, projectChanges } from '../schemas/project.ts';
import { sparkline } from '../schemas/statistics.ts';
import { readSparklines } from '../statistics/read-sparklines.ts';
import { mapItems, mapReply } from './map-reply.ts';

const tag = 'Projects';
const params = z.strictObject({ projectId: uuid });
const names = { projectId: 'project' } as const;

export const withUrl =
  ({ webhookBaseUrl }: RequestContext) =>
  (row: Project) => ({
    ...row,
    scheme: row.scheme as Record<string, unknown> | null,
    webhookUrl: `${webhookBaseUrl}/v1/webhooks/${row.id}`,
  });

const listedProject = project
  .extend({
    statistics: sparkline.optional().describe('With include=statistics.'),
    attention: projectAttention.optional().describe('With include=statistics.'),
  })
  .meta({ id: 'ListedProject' });

export const projectRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/projects',
    name: 'listProjects',
    summary: 'The projects that you see, the newest first',
    tag,
    role: 'viewer',
    query: z.strictObject({
      ...pageQuery,
      archived: queryFlag.optional().describe('true lists archived ones too.'),
      include: z
        .enum(['statistics'])
        .optional()
        .describe('statistics: the last 24 hours of each project, and what needs attention.'),
    }),
    statusCode: 200,
    answer: pageOf(listedProject).meta({ id: 'ProjectPage' }),
    handle: async (context, { query: { archived = false, include, ...asked } }) => {
      const filter = { projectId: context.caller.projectId, archivedToo: archived };
      const page = await readPage(
        { list: 'projects', ...filter },
        asked,
        (request) => readProjectPage(context.reads, filter, request),
        byCreation,
      );
      if (page.kind !== 'done' || include === undefined) return mapItems(page, withUrl(context));
      const ids = page.value.items.map(({ id }) => id);
      const lines = await readSparklines(context.reads, ids, context.now());
      const attention = await readProjectAttention(context.reads, ids);
      return mapItems(page, (row) => ({
        ...withUrl(context)(row),
        statistics: lines.get(row.id),
        attention: attention.get(row.id),
      }));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/v1/projects',
    name: 'createProject',
    summary: 'Make a project with its first secret',
    tag,
    role: 'admin',
    body: newProject,
    example: { name: 'Shop' },
    statusCode: 201,
    answer: createdProject,
    handle: async (
      context,
      { body: { name, provider = 'generic', providerSettings, secret, allowShortSecret, ...settings } },
    ) => {
      if (context.caller.projectId !== null) {
        return refuse(403, 'access.bound_to_project', 'who sees one project alone cannot make another');
      }
      const given =
        secret === undefined ? undefined : { value: secret, allowShort: allowShortSecret === true };
      const input = { name, provider, providerSettings, settings: defined(settings), secret: given };
      const created = await createProject(context.actions, input);
      return mapReply(created, (value) => ({ ...value, project: withUrl(context)(value.project) }));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}',
    name: 'getProject',
    summary: 'One project',
    tag,
    role: 'viewer',
    params,
    names,
    statusCode: 200,
    answer: project,
    handle: async (context, { params: { projectId } }) =>
      reply(withUrl(context)((await readProject(context.pool, projectId)) as Project)),
  }),
  defineRoute({
    method: 'patch',
    path: '/api/v1/projects/{projectId}',
    name: 'updateProject',
    summary: 'Change what is given, and nothing else',
    tag,
    role: 'admin',
    params,
    names,
    body: projectChanges,
    example: { rateLimitPerMinute: 1_000 },
    refusals: [409],
    statusCode: 200,
    answer: project,
    handle: async (context, { params: { projectId }, body }) => {
      const changed = await changeProject(context.actions, projectId, verbOf(body), defined(body));
      return mapReply(changed, withUrl(context));
    },
  }),
];

/** The verb of the log, which the command line has a command for. */
function verbOf({ enabled, ...others }: z.output<typeof projectChanges>): ProjectChange {
  if (enabled === undefined || Object.keys(others).length > 0) return 'update';
  return enabled ? 'enable' : 'disable';
}

/** The fields that are given. Zod leaves those out that are not, but its types allow undefined. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
