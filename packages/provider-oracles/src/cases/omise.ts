import type { ProviderCase } from '../provider-case.ts';
import { hmac, unixSeconds } from '../requests/signatures.ts';
import { listedAfterAnother, withoutHeader } from '../requests/unsigned.ts';

const header = 'omise-signature';
const timeHeader = 'omise-signature-timestamp';

export const providerCase = {
  secret: Buffer.from('omise oracle secret, number one!').toString('base64'),
  otherSecret: Buffer.from('omise oracle secret, number two!').toString('base64'),
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      toleranceSeconds: 7 * 86_400,
      body: '{"object":"event","id":"evnt_test_1","key":"charge.complete","data":{"object":"charge","id":"chrg_test_1","amount":4200}}',
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        const signature = hmac('sha256', Buffer.from(secret, 'base64'), 'hex', seconds, '.', body);
        return { headers: { [timeHeader]: seconds, [header]: signature } };
      },
      unsign: withoutHeader(header),
      several: listedAfterAnother(header, ','),
      expects: { eventId: 'evnt_test_1', eventType: 'charge.complete', orderingKey: 'chrg_test_1' },
    },
  ],
} satisfies ProviderCase;
