import { presets } from '@hqrelay/domain/providers/presets';
import { projectScheme } from '@hqrelay/domain/providers/scheme';
import { searchKeyForm } from '@hqrelay/domain/search-key';
import { z } from 'zod';
import { id, label, time } from './fields.ts';

export const project = z
  .object({
    id,
    name: z.string(),
    provider: z.string(),
    webhookUrl: z.string().describe('Where the provider posts to.'),
    rateLimitPerMinute: z.int().nullable().describe('Null is unlimited.'),
    idempotencyTtlSeconds: z.int(),
    onConflict: z.enum(['reject', 'duplicate']),
    requireTimestamp: z.boolean(),
    sameBody: z.enum(['accept', 'duplicate']),
    scheme: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('How the sender signs; null: as its provider does.'),
    searchKeys: z.array(z.string()),
    enabled: z.boolean(),
    archivedAt: time.nullable(),
    lastReceivedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'Project', description: 'One customer: how it signs, and its limits.' });

export const projectAttention = z
  .object({
    disabledEndpoints: z.int().describe('Endpoints that the relay disabled after a 410.'),
    openBreakers: z.int().describe('Endpoints that fail, so that their deliveries are held.'),
    deadLetters: z.int().describe('Of the last 24 hours, that were not replayed.'),
    deadLettersCapped: z.boolean().describe('There are at least so many.'),
  })
  .meta({ id: 'ProjectAttention', description: 'What an operator should look at in a project.' });

/** The settings that both a new project and a change may give. */
const settings = {
  rateLimitPerMinute: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .optional()
    .describe('Webhooks a minute; null is unlimited; 100 when a project is made without it.'),
  idempotencyTtlSeconds: z.int().min(60).max(2_592_000).optional(),
  onConflict: z
    .enum(['reject', 'duplicate'])
    .optional()
    .describe('What a webhook is whose id came before with another body.'),
  requireTimestamp: z
    .boolean()
    .optional()
    .describe('Whether signatures cover X-Webhook-Timestamp, which must be within 300 s.'),
  sameBody: z
    .enum(['accept', 'duplicate'])
    .optional()
    .describe('What a webhook is whose body came before under another id.'),
  searchKeys: z
    .array(z.string().max(200).regex(searchKeyForm, { error: 'expected a JSON Pointer such as /order/id' }))
    .max(5)
    .optional()
    .describe(
      'JSON Pointers: webhooks received from then on are found by the values that their payloads have there.',
    ),
};

const givenSecret = {
  secret: z
    .string()
    .min(1)
    .max(1_024)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), {
      error: 'must not have a control character',
    })
    .optional()
    .describe('What the sender signs with; 32 random bytes in hex when not given.'),
  allowShortSecret: z.boolean().optional().describe('Take a secret of less than 16 bytes.'),
};

const providerSettings = z
  .record(z.string().min(1).max(100), z.string().min(1).max(4_096))
  .optional()
  .describe('What the provider needs beside the secret, by name. Stored encrypted, and never shown again.');

export const newProject = z.strictObject({
  name: label(200),
  provider: z
    .enum(presets.map((preset) => preset.name))
    .optional()
    .describe('How the sender signs, and where its ids are; generic when not given.'),
  scheme: projectScheme
    .optional()
    .describe('How the sender signs, where it differs from the schemes of its provider.'),
  providerSettings,
  ...settings,
  ...givenSecret,
});

export const projectChanges = z
  .strictObject({
    name: label(200).optional(),
    enabled: z.boolean().optional(),
    scheme: projectScheme
      .nullable()
      .optional()
      .describe('How the sender signs, where it differs from the schemes of its provider; null removes it.'),
    providerSettings: providerSettings.describe('Those that are given are replaced; the others stay.'),
    ...settings,
  })
  .refine((changes) => Object.keys(changes).length > 0, { error: 'give at least one setting to change' });

export const createdProject = z
  .object({ project, secret: z.string().describe('Shown this once only.') })
  .meta({ id: 'CreatedProject' });

export const projectSecret = z
  .object({
    id,
    projectId: id,
    status: z.enum(['active', 'expired', 'revoked']),
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    lastVerifiedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'ProjectSecret', description: 'A secret that the provider signs with, without its value.' });

export const newSecret = z.strictObject({
  ...givenSecret,
  overlapSeconds: z
    .int()
    .min(0)
    .max(7_776_000)
    .optional()
    .describe('How long the old secrets verify; 86400 when not given.'),
});

export const rotatedSecret = z
  .object({ secretId: id, secret: z.string().describe('Shown this once only.'), overlapEndsAt: time })
  .meta({ id: 'RotatedSecret' });
