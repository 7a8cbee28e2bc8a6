import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'line-oracle-secret-number-one',
  otherSecret: 'line-oracle-secret-number-two',
  variants: [
    {
      name: 'Messaging API',
      ...signedBody('x-line-signature', { encoding: 'base64' }),
      body: '{"destination":"U1","events":[{"type":"message","webhookEventId":"01FZ74A0TDDPYRVKNK77XKC3ZR","source":{"type":"user","userId":"U2"}}]}',
      expects: { eventId: null, eventType: 'message', orderingKey: 'U2' },
    },
  ],
} satisfies ProviderCase;
