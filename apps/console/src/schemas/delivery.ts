import { z } from 'zod';
import { id, time } from './fields.ts';

export const deliveryStates = ['waiting', 'held', 'delivered', 'dead_lettered', 'cancelled'] as const;
export const holdReasons = ['delay', 'paused', 'disabled', 'order', 'breaker'] as const;

/** A delivery as a decision of a person left it. */
export const decidedDelivery = z
  .object({
    deliveryId: id,
    projectId: id,
    webhookLogId: id.describe('The id of the webhook.'),
    endpointId: id,
    replayId: id.nullable().describe('Null unless it is a replay.'),
    state: z.enum(deliveryStates),
    attempts: z.int(),
    nextAttemptAt: time.nullable(),
    heldReason: z.enum(holdReasons).nullable(),
  })
  .meta({ id: 'DecidedDelivery' });
