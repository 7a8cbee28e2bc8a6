import { webhookStatuses } from '@hqrelay/db/queries/webhooks';
import { z } from 'zod';
import { deliveryStates, holdReasons } from './delivery.ts';
import { id, time } from './fields.ts';

const webhook = z
  .object({
    id,
    projectId: id,
    webhookId: z.string().describe("The provider's id."),
    eventType: z.string().nullable(),
    status: z.enum(webhookStatuses),
    reason: z.string().nullable().describe('A code, then words.'),
    endpointIds: z.array(id).describe('The endpoints that it is owed to.'),
    duplicateOf: id.nullable(),
    payloadSha256: z.string().nullable(),
    payloadBytes: z.int(),
    remoteAddr: z.string().nullable(),
    correlationId: z.string(),
    requestCount: z.int().describe('How many requests the row stands for.'),
    receivedAt: time,
  })
  .meta({ id: 'Webhook', description: 'One inbound request.' });

export const listedWebhook = webhook
  .extend({
    deliveries: z
      .partialRecord(z.enum(deliveryStates), z.int())
      .describe('How many of its deliveries are in which state.'),
  })
  .meta({ id: 'ListedWebhook' });

const order = z
  .object({
    key: z.string(),
    sequence: z
      .int()
      .nullable()
      .describe('Null while webhooks that were accepted before it may not be recorded.'),
    behind: z
      .object({ webhookId: id, state: z.enum(deliveryStates), nextAttemptAt: time.nullable() })
      .nullable()
      .describe('The first delivery of the key now; null for the first itself.'),
  })
  .meta({ id: 'DeliveryOrder', description: 'Where a delivery stands among those of its ordering key.' });

const delivery = z
  .object({
    deliveryId: id,
    endpointId: id,
    url: z.string().nullable().describe('Null where the endpoint is unknown.'),
    state: z.enum(deliveryStates),
    attempts: z.int(),
    lastStatusCode: z.int().nullable(),
    lastError: z.string().nullable(),
    nextAttemptAt: time.nullable(),
    deliveredAt: time.nullable(),
    heldReason: z.enum(holdReasons).nullable(),
    heldUntil: time.nullable(),
    deadReason: z.string().nullable(),
    replayedAt: time
      .nullable()
      .describe('When its dead letter was replayed, or closed because the payload was erased.'),
    order: order.nullable().describe('Null for an unordered delivery, and for one that has ended.'),
  })
  .meta({ id: 'Delivery', description: 'A webhook on its way to one endpoint.' });

const replay = delivery
  .omit({ order: true })
  .extend({ replayId: id, requestedBy: z.string(), requestedAt: time })
  .meta({ id: 'Replay' });

const attempt = z
  .object({
    id,
    deliveryId: id,
    endpointId: id,
    lane: z.enum(['live', 'retry', 'replay']),
    attemptNum: z.int().describe('From 1.'),
    status: z.enum(['delivered', 'failed', 'dead_lettered']),
    statusCode: z.int().nullable().describe('Null: no answer.'),
    latencyMs: z.int(),
    error: z.string().nullable(),
    responseBody: z
      .string()
      .nullable()
      .describe('The first 4 KiB. Null also where payloads are hidden from you.'),
    correlationId: z.string(),
    attemptedAt: time,
    nextAttemptAt: time.nullable(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request of a delivery.' });

export const webhookDetails = z
  .object({
    webhook,
    verifiedWith: id
      .nullable()
      .describe(
        'The secret of the project that the stored request is signed with. Null where the request is not stored, was rejected, or ' +
          'cannot be verified again, as where its credential was taken off.',
      ),
    request: z
      .object({
        headers: z.array(z.tuple([z.string(), z.string()])).describe('In their order, without credentials.'),
        query: z.string().describe('Without the values of secret parameters.'),
        payloadBytes: z.int(),
      })
      .nullable()
      .describe('Null where the payload was never stored, was dropped, or payloads are hidden from you.'),
    deliveries: z.array(delivery),
    attempts: z.array(attempt).describe('In the order they were made, those of replays too.'),
    replays: z.array(replay),
  })
  .meta({ id: 'WebhookDetails' });

export const webhookCount = z
  .object({ count: z.int(), capped: z.boolean().describe('There may be more.') })
  .meta({ id: 'Count' });
