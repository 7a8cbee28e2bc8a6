import { webhookStatuses } from '@hqrelay/db/queries/webhooks';
import { z } from 'zod';
import { deliveryStates } from './delivery.ts';
import { moment, queryInteger, uuid } from './fields.ts';

/** The filter of the list, which bulk actions take too. */
export const filterQuery = {
  since: moment.optional().describe('Received then or later; 90 days before `until` when not given.'),
  until: moment.optional().describe('Received before; now when not given.'),
  status: z.enum(webhookStatuses).optional(),
  reason: z.string().max(100).optional().describe('The code of a reason, such as signature.mismatch.'),
  eventType: z.string().max(255).optional(),
  webhookId: z.string().max(255).optional().describe("The provider's id."),
  correlationId: z.string().max(128).optional(),
  q: z.string().min(3).max(200).optional().describe('Text in the payload, as it stands there.'),
  endpointId: uuid.optional().describe('Owed to this endpoint.'),
  state: z.enum(deliveryStates).optional().describe('A delivery is in this state.'),
  statusClass: z
    .enum(['2xx', '3xx', '4xx', '5xx', 'none'])
    .optional()
    .describe('Of the last attempt of that delivery; none: no answer.'),
  error: z.string().min(1).max(200).optional().describe('Text in the error of that attempt.'),
  minAttempts: queryInteger(1, 1_000).optional().describe('That delivery has at least so many attempts.'),
};
