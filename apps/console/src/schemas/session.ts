import { apiRoles } from '@hqrelay/domain/access/api-role';
import { z } from 'zod';
import { id, label, time, uuid } from './fields.ts';

export const me = z
  .object({
    kind: z.enum(['key', 'session']),
    id,
    name: z.string().describe('The name of the key, or the subject of the session.'),
    role: z.enum(apiRoles),
    projectId: id.nullable().describe('The one project that you see; null sees all.'),
    hidePayloads: z.boolean(),
    returnUrl: z.string().nullable().describe('Of a session: as its sign-in link had it.'),
    expiresAt: time.describe('A session that is not used for two hours ends before.'),
  })
  .meta({ id: 'Me', description: 'Who asks.' });

export const newConsoleLink = z.strictObject({
  role: z.enum(apiRoles),
  subject: label(200).describe(
    'Who signs in; their changes have the actor session:<subject> in the admin log.',
  ),
  projectId: uuid
    .optional()
    .describe('The session sees this project alone; that of your own key when not given.'),
  returnUrl: z
    .string()
    .optional()
    .describe(
      'A path of the console that opens after the sign-in, or the URL of a page that the console links back to.',
    ),
  hidePayloads: z.boolean().optional().describe('As your own key when not given.'),
  expiresInSeconds: z
    .int()
    .min(60)
    .max(604_800)
    .optional()
    .describe(
      'How long the link may be used: 3600 (an hour) when not given. Its session lasts up to 12 hours.',
    ),
});

export const createdConsoleLink = z
  .object({ url: z.string().describe('Shown this once only. It signs one browser in.'), expiresAt: time })
  .meta({ id: 'CreatedConsoleLink' });

export const session = z
  .object({
    id,
    subject: z.string(),
    role: z.enum(apiRoles),
    projectId: id.nullable().describe('The one project that it sees; null sees all.'),
    hidePayloads: z.boolean(),
    status: z.enum(['active', 'expired', 'revoked']),
    createdBy: z.string().describe('The actor that made its sign-in link.'),
    createdAt: time,
    lastUsedAt: time.describe('To the minute.'),
    expiresAt: time.describe('At the latest: a session that is not used for two hours expires before.'),
    revokedAt: time.nullable(),
  })
  .meta({ id: 'Session', description: 'A browser that is or was signed in to the console.' });

export const revokedSessions = z.object({ count: z.int() }).meta({ id: 'RevokedSessions' });
