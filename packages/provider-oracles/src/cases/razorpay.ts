import razorpay from 'razorpay/dist/utils/razorpay-utils.js';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

const header = 'x-razorpay-signature';

export const providerCase = {
  secret: 'razorpay-oracle-secret-one',
  otherSecret: 'razorpay-oracle-secret-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody(header),
      headers: { 'x-razorpay-event-id': 'evt_razorpay_1' },
      body: '{"entity":"event","event":"payment.captured","payload":{"payment":{"entity":{"id":"pay_1","order_id":"order_1","amount":4200}}}}',
      expects: { eventId: 'evt_razorpay_1', eventType: 'payment.captured', orderingKey: 'order_1' },
      sdk: {
        name: 'razorpay: validateWebhookSignature',
        mistakes: hashesText,
        verify: ({ body, headers }, secret) =>
          razorpay.validateWebhookSignature(body.toString(), headers[header]!, secret),
      },
    },
  ],
} satisfies ProviderCase;
