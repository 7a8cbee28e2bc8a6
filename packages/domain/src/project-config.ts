import { z } from 'zod';
import { projectScheme } from './providers/scheme.ts';

const sealedSecret = z.object({
  id: z.string(),
  keyId: z.string(),
  sealed: z.string(),
  /** ms since epoch; null never expires. */
  expiresAt: z.number().nullable(),
});

const endpointConfig = z.object({
  id: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()),
  retrySchedule: z.array(z.string()),
  timeoutMs: z.number(),
  enabled: z.boolean(),
  /** Null while it is enabled. */
  disabledBy: z.enum(['relay', 'person']).nullable(),
  paused: z.boolean(),
  orderingKey: z.string().nullable(),
  onDeadLetter: z.enum(['continue', 'hold']),
  forwardCredentials: z.boolean(),
  sealedHeaders: z.string().nullable(),
  headersKeyId: z.string().nullable(),
  caCertificates: z.string().nullable(),
  sealedClientCertificate: z.string().nullable(),
  clientCertificateKeyId: z.string().nullable(),
  secrets: z.array(sealedSecret),
});

/** The configuration of a project as receivers and workers cache it, with every secret still sealed. */
export const projectConfig = z.object({
  /** Rises with every change. A lower version never replaces a higher one. */
  version: z.number(),
  id: z.string(),
  provider: z.string(),
  enabled: z.boolean(),
  rateLimitPerMinute: z.number().nullable(),
  idempotencyTtlSeconds: z.number(),
  onConflict: z.enum(['reject', 'duplicate']),
  requireTimestamp: z.boolean(),
  sameBody: z.enum(['accept', 'duplicate']),
  /** A scheme of the project's own; null takes the provider's. */
  scheme: projectScheme.nullable(),
  /** The settings of its provider; null is none. Configurations that an earlier version cached lack both. */
  sealedSettings: z.string().nullable().default(null),
  settingsKeyId: z.string().nullable().default(null),
  /**
   * ms since epoch. Until then workers read the history of a delivery before its first attempt too: a person has cancelled one
   * whose message waits in a queue. Null in what an earlier version cached.
   */
  firstAttemptsCheckedUntil: z.number().nullable().default(null),
  /** ms since epoch. */
  createdAt: z.number(),
  /** The secrets that were neither revoked nor expired when the configuration was read. */
  secrets: z.array(sealedSecret),
  endpoints: z.array(endpointConfig),
});

export type SealedSecret = z.infer<typeof sealedSecret>;
export type EndpointConfig = z.infer<typeof endpointConfig>;
export type ProjectConfig = z.infer<typeof projectConfig>;
