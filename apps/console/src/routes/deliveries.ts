import { cancelDelivery } from '@hqrelay/actions/delivery/cancel-delivery';
import { retryDeliveryNow } from '@hqrelay/actions/delivery/retry-delivery-now';
import { z } from 'zod';
import { defineRoute } from '../api/route.ts';
import { decidedDelivery } from '../schemas/delivery.ts';
import { uuid } from '../schemas/fields.ts';

const common = {
  method: 'post',
  tag: 'Webhooks',
  role: 'operator',
  params: z.strictObject({ deliveryId: uuid }),
  names: { deliveryId: 'delivery' },
  body: z.strictObject({}),
  statusCode: 200,
  answer: decidedDelivery,
} as const;

export const deliveryRoutes = [
  defineRoute({
    ...common,
    path: '/api/v1/deliveries/{deliveryId}/retry-now',
    name: 'retryDeliveryNow',
    summary: 'Make the next attempt of a waiting or held delivery at once',
    handle: ({ actions, now }, { params: { deliveryId } }) =>
      retryDeliveryNow(actions, { deliveryId, now: now() }),
  }),
  defineRoute({
    ...common,
    path: '/api/v1/deliveries/{deliveryId}/cancel',
    name: 'cancelDelivery',
    summary: 'Make no further attempt of a delivery that waits, is held or is a dead letter',
    handle: ({ actions, now }, { params: { deliveryId } }) =>
      cancelDelivery(actions, { deliveryId, now: now() }),
  }),
];
