import { revokeProjectSecret } from '@hqrelay/actions/secret/revoke-project-secret';
import { rotateProjectSecret } from '@hqrelay/actions/secret/rotate-project-secret';
import { listProjectSecrets } from '@hqrelay/db/queries/project-secrets';
import { z } from 'zod';
import { defineRoute, reply } from '../api/route.ts';
import { uuid } from '../schemas/fields.ts';
import { newSecret, projectSecret, rotatedSecret } from '../schemas/project.ts';

const tag = 'Secrets';
const params = z.strictObject({ projectId: uuid });
const names = { projectId: 'project' } as const;

export const secretRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}/secrets',
    name: 'listSecrets',
    summary: 'The secrets of a project, the newest first, without their values',
    tag,
    role: 'viewer',
    params,
    names,
    statusCode: 200,
    answer: z
      .object({ items: z.array(projectSecret), nextCursor: z.null(), prevCursor: z.null() })
      .meta({ id: 'ProjectSecrets', description: 'All of them: a project has few.' }),
    handle: async ({ pool }, { params: { projectId } }) =>
      reply({ items: await listProjectSecrets(pool, projectId), nextCursor: null, prevCursor: null }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/v1/projects/{projectId}/secrets',
    name: 'rotateSecret',
    summary: 'Give a project a new secret; the old ones verify until the overlap ends',
    tag,
    role: 'admin',
    params,
    names,
    body: newSecret,
    statusCode: 201,
    answer: rotatedSecret,
    handle: ({ actions }, { params: { projectId }, body }) => {
      const { secret, allowShortSecret = false, overlapSeconds = 86_400 } = body;
      return rotateProjectSecret(actions, {
        projectId,
        secret: secret === undefined ? undefined : { value: secret, allowShort: allowShortSecret },
        overlapMs: overlapSeconds * 1_000,
      });
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/api/v1/projects/{projectId}/secrets/{secretId}',
    name: 'revokeSecret',
    summary: 'Stop a secret from verifying, everywhere and for good',
    tag,
    role: 'admin',
    params: z.strictObject({ projectId: uuid, secretId: uuid }),
    names: { ...names, secretId: 'secret' },
    statusCode: 200,
    answer: projectSecret,
    handle: ({ actions }, { params: { secretId } }) => revokeProjectSecret(actions, secretId),
  }),
];
