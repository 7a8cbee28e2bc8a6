import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { parseEventTypes } from '@hqrelay/domain/inbound/event-filter';
import { z } from 'zod';
import { holdReasons } from './delivery.ts';
import { id, label, time } from './fields.ts';

export const endpoint = z
  .object({
    id,
    projectId: id,
    url: z.string().describe('Without the values of secret parameters.'),
    eventTypes: z.array(z.string()).describe('Empty is all.'),
    retrySchedule: z.array(z.string()),
    timeoutMs: z.int(),
    enabled: z.boolean(),
    disabledBy: z.enum(['relay', 'person']).nullable(),
    disabledReason: z.string().nullable(),
    paused: z.boolean(),
    archivedAt: time.nullable(),
    releaseRate: z.int().describe('Held deliveries that are released per second.'),
    orderingKey: z.string().nullable(),
    onDeadLetter: z.enum(['continue', 'hold']),
    forwardCredentials: z.boolean(),
    hasHeaders: z.boolean(),
    hasCa: z.boolean(),
    hasClientCertificate: z.boolean(),
    createdAt: time,
  })
  .meta({ id: 'Endpoint', description: 'One URL of a project that webhooks are delivered to.' });

const breaker = z
  .object({
    state: z
      .enum(['closed', 'open', 'half_open'])
      .describe('open: its deliveries are held. half_open: one delivery tries whether it works again.'),
    failures: z.int().describe('Attempts that failed in a row.'),
    failingSince: time.nullable(),
    openedAt: time.nullable().describe('Null while the breaker is closed.'),
    probeAt: time.nullable().describe('When one delivery tries it again; null while the breaker is closed.'),
  })
  .meta({ id: 'Breaker', description: 'As the workers wrote it last, to the second.' });

/** What a read answers: the settings of an endpoint, and how it fares. */
export const endpointWithHealth = endpoint
  .extend({
    breaker,
    held: z
      .partialRecord(z.enum(holdReasons), z.int())
      .describe('How many of its deliveries are held, by reason.'),
    heldCapped: z.boolean().describe('There are at least so many.'),
  })
  .meta({ id: 'EndpointWithHealth' });

/** Text of a list, parsed by the domain; its RangeError is the message. */
function parsedBy<T>(parse: (text: string) => T) {
  return (text: string, context: z.RefinementCtx): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  };
}

const settings = {
  eventTypes: z
    .array(z.string().refine((text) => !text.includes(','), { error: 'must not have a comma' }))
    .max(100)
    .transform((patterns, context) =>
      patterns.length === 0 ? [] : parsedBy(parseEventTypes)(patterns.join(','), context),
    )
    .optional()
    .describe("The event types it wants, such as 'payment.*'; empty is all."),
  retrySchedule: z
    .union([z.string(), z.array(z.string()).min(1).max(30)])
    .transform((given, context) => parsedBy(parseRetrySchedule)([given].flat().join(','), context))
    .optional()
    .describe('hqrelay, omise, standard-webhooks, or delays such as ["1s","2s","4s"] (1s to 48h each).'),
  timeoutMs: z.int().min(1_000).max(30_000).optional(),
  orderingKey: z
    .string()
    .min(1)
    .max(255)
    .nullable()
    .optional()
    .describe(
      'Webhooks with the same value are delivered one at a time, in order: a JSON Pointer such as /order_id, or header:Name. Null is no order.',
    ),
  onDeadLetter: z
    .enum(['continue', 'hold'])
    .optional()
    .describe(
      'After a dead letter: deliver the next webhook of its key, or hold it until that one is replayed or skipped.',
    ),
  forwardCredentials: z.boolean().optional().describe("Whether it gets the provider's credential too."),
  headers: z
    .array(z.strictObject({ name: z.string(), value: z.string() }))
    .max(20)
    .nullable()
    .optional()
    .describe('Fixed headers, stored encrypted and never shown; null removes them.'),
  caCertificates: z
    .string()
    .max(100_000)
    .nullable()
    .optional()
    .describe('PEM of the authorities that its certificate may be of; null takes the public ones.'),
  clientCertificate: z
    .strictObject({ certificate: z.string().max(50_000), key: z.string().max(20_000) })
    .nullable()
    .optional()
    .describe('PEM that the relay shows it; the key is stored encrypted. Null removes it.'),
};

const url = z.string().min(1).max(2_048);

export const newEndpoint = z.strictObject({ url, ...settings });

export const endpointChanges = z
  .strictObject({ url: url.optional(), ...settings })
  .refine((changes) => Object.keys(changes).length > 0, { error: 'give at least one setting to change' });

export const addedEndpoint = z
  .object({ endpoint, signingSecret: z.string().describe('Shown this once only.') })
  .meta({ id: 'AddedEndpoint' });

export const release = z.strictObject({
  releaseRate: z
    .int()
    .min(1)
    .max(2_000)
    .optional()
    .describe('Held deliveries that are released per second; stays until it is changed.'),
});

export const disabling = z.strictObject({ reason: label(200).optional() });

export const overlap = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(7_776_000)
    .optional()
    .describe('How long deliveries carry both signatures; 86400 when not given.'),
});

export const rotatedEndpointSecret = z
  .object({ signingSecret: z.string().describe('Shown this once only.'), overlapEndsAt: time })
  .meta({ id: 'RotatedEndpointSecret' });

export const testedEndpoint = z
  .object({
    endpointId: id,
    webhookId: id.describe('The webhook-id of the ping.'),
    ok: z.boolean(),
    statusCode: z.int().nullable(),
    latencyMs: z.int(),
    phase: z.string().nullable().describe('The phase that failed; null when the endpoint answered.'),
    error: z.string().nullable(),
    responseBody: z.string().nullable().describe('Null also where payloads are hidden from you.'),
  })
  .meta({ id: 'TestedEndpoint' });
