import type { ProviderCase, ProviderRequest, SignInput } from '../provider-case.ts';
import { webhookUrl } from '../requests/signed-request.ts';

// Exotel proves nothing, so the callback URL carries a token.
const format = {
  covers: 'bearer' as const,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  sign: ({ secret }: SignInput) => ({ query: `token=${secret}` }),
  unsign: (request: ProviderRequest) => ({ ...request, url: webhookUrl }),
};

export const providerCase = {
  secret: 'exotel-oracle-token-number-one',
  otherSecret: 'exotel-oracle-token-number-two',
  variants: [
    {
      name: 'voice status callback',
      ...format,
      body: 'CallSid=CA1&EventType=terminal&Status=completed&DateUpdated=2026-11-22+07%3A00%3A00',
      expects: { eventId: 'CA1:completed:2026-11-22 07:00:00', eventType: 'terminal', orderingKey: 'CA1' },
    },
    {
      name: 'SMS status callback',
      ...format,
      body: 'SmsSid=SM1&Status=sent&To=0XXXXXX4242',
      expects: { eventId: 'SM1:sent', eventType: 'sent', orderingKey: 'SM1' },
    },
  ],
} satisfies ProviderCase;
