import { createApiKey } from '@hqrelay/actions/api-key/create-api-key';
import { revokeApiKey } from '@hqrelay/actions/api-key/revoke-api-key';
import { readApiKeyPage } from '@hqrelay/db/queries/api-keys';
import { z } from 'zod';
import { refuseToExceed } from '../api/access/caller.ts';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute } from '../api/route.ts';
import { apiKey, createdApiKey, newApiKey } from '../schemas/api-key.ts';
import { pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { mapReply } from './map-reply.ts';

const tag = 'Access';

export const apiKeyRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/api-keys',
    name: 'listApiKeys',
    summary: 'The keys, the newest first; those of your project alone where your key is bound to one',
    tag,
    role: 'admin',
    query: z.strictObject(pageQuery),
    statusCode: 200,
    answer: pageOf(apiKey).meta({ id: 'ApiKeyPage' }),
    handle: ({ caller: { projectId }, pool }, { query }) =>
      readPage(
        { list: 'api-keys', projectId },
        query,
        (request) => readApiKeyPage(pool, { projectId }, request),
        byCreation,
      ),
  }),
  defineRoute({
    method: 'post',
    path: '/api/v1/api-keys',
    name: 'createApiKey',
    summary: 'Make a key; it is shown this once only',
    tag,
    role: 'admin',
    body: newApiKey,
    example: { name: 'support', role: 'viewer', hidePayloads: true },
    refusals: [404],
    statusCode: 201,
    answer: createdApiKey,
    handle: async ({ caller, actions }, { body }) => {
      const { name, role, expiresInSeconds = 7_776_000 } = body;
      const projectId = body.projectId ?? caller.projectId;
      const hidePayloads = body.hidePayloads ?? caller.hidePayloads;
      const refused = refuseToExceed(caller, { projectId, hidePayloads });
      if (refused) return refused;
      const input = { name, role, projectId, hidePayloads, expiresInMs: expiresInSeconds * 1_000 };
      return mapReply(await createApiKey(actions, input), (created) => ({
        apiKeyId: created.apiKey.id,
        apiKey: created.key,
        expiresAt: created.apiKey.expiresAt,
      }));
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/api/v1/api-keys/{id}',
    name: 'revokeApiKey',
    summary: 'Stop a key from being accepted, from the next request on and for good',
    tag,
    role: 'admin',
    params: z.strictObject({ id: uuid }),
    names: { id: 'api_key' },
    statusCode: 200,
    answer: apiKey,
    handle: ({ actions }, { params }) => revokeApiKey(actions, params.id),
  }),
];
