import { archiveEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { archiveProject } from '@hqrelay/actions/project/archive-project';
import { z } from 'zod';
import { defineRoute } from '../api/route.ts';
import { endpoint } from '../schemas/endpoint.ts';
import { uuid } from '../schemas/fields.ts';
import { project } from '../schemas/project.ts';
import { shown } from './endpoints.ts';
import { mapReply } from './map-reply.ts';
import { withUrl } from './projects.ts';

/** A group of its own at the end of the document: what is archived cannot be changed any more. */
const tag = 'Archive';
const nothing = z.strictObject({});
const ofProject = '/api/v1/projects/{projectId}';

export const archiveRoutes = [
  defineRoute({
    method: 'post',
    path: `${ofProject}/endpoints/{endpointId}/archive`,
    name: 'archiveEndpoint',
    summary: 'Disable and hide an endpoint for good; what it is owed is held, and its books are kept',
    tag,
    role: 'operator',
    params: z.strictObject({ projectId: uuid, endpointId: uuid }),
    names: { projectId: 'project', endpointId: 'endpoint' },
    body: nothing,
    refusals: [409],
    statusCode: 200,
    answer: endpoint,
    handle: async ({ actions }, { params: { endpointId } }) =>
      mapReply(await archiveEndpoint(actions, endpointId), shown),
  }),
  defineRoute({
    method: 'post',
    path: `${ofProject}/archive`,
    name: 'archiveProject',
    summary: 'Disable and hide a project and its endpoints for good; its books are kept',
    tag,
    role: 'admin',
    params: z.strictObject({ projectId: uuid }),
    names: { projectId: 'project' },
    body: nothing,
    refusals: [409],
    statusCode: 200,
    answer: project,
    handle: async (context, { params: { projectId } }) =>
      mapReply(await archiveProject(context.actions, projectId), withUrl(context)),
  }),
];
