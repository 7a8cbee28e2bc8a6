import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'telegram-oracle-token-number-one',
  otherSecret: 'telegram-oracle-token-number-two',
  variants: [
    {
      name: 'updates',
      ...staticToken('x-telegram-bot-api-secret-token'),
      body: '{"update_id":10000,"message":{"message_id":1365,"chat":{"id":1111111},"text":"paid"}}',
      expects: { eventId: '10000', eventType: 'message', orderingKey: '1111111' },
    },
  ],
} satisfies ProviderCase;
