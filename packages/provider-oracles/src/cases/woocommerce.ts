import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { sha256Hex } from '../requests/signatures.ts';

const body = '{"id":727,"status":"processing","total":"42.00"}';

export const providerCase = {
  secret: 'woocommerce-oracle-secret-number-one',
  otherSecret: 'woocommerce-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-wc-webhook-signature', { encoding: 'base64' }),
      headers: {
        'x-wc-webhook-topic': 'order.updated',
        'x-wc-webhook-delivery-id': '4e8d1a7b9a8c3c1f',
        'x-wc-webhook-source': 'https://shop.example/',
      },
      body,
      expects: {
        eventId: `4e8d1a7b9a8c3c1f:${sha256Hex(body)}`,
        eventType: 'order.updated',
        orderingKey: '727',
      },
    },
  ],
} satisfies ProviderCase;
