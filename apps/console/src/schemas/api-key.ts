import { apiRoles } from '@hqrelay/domain/access/api-role';
import { z } from 'zod';
import { id, label, time, uuid } from './fields.ts';

export const apiKey = z
  .object({
    id,
    name: z.string(),
    role: z.enum(apiRoles),
    projectId: id.nullable().describe('The one project that it sees; null sees all.'),
    hidePayloads: z.boolean(),
    status: z.enum(['active', 'expired', 'revoked']),
    expiresAt: time,
    revokedAt: time.nullable(),
    lastUsedAt: time.nullable().describe('To the minute.'),
    createdAt: time,
  })
  .meta({ id: 'ApiKey', description: 'A key of a program, without the key itself.' });

export const newApiKey = z.strictObject({
  name: label(200),
  role: z.enum(apiRoles),
  projectId: uuid.optional().describe('It sees this project alone; that of your own key when not given.'),
  hidePayloads: z.boolean().optional().describe('As your own key when not given.'),
  expiresInSeconds: z.int().min(60).max(315_360_000).optional().describe('7776000 (90 days) when not given.'),
});

export const createdApiKey = z
  .object({ apiKeyId: id, apiKey: z.string().describe('Shown this once only.'), expiresAt: time })
  .meta({ id: 'CreatedApiKey' });
