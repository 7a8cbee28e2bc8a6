import type { ProviderCase } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const id = 'e76c6bd4-55c9-4987-8304-da1588d8988b';
const header = 'twitch-eventsub-message-signature';

export const providerCase = {
  secret: 'twitch-oracle-secret-one',
  otherSecret: 'twitch-oracle-secret-two',
  variants: [
    {
      name: 'EventSub',
      covers: 'body',
      toleranceSeconds: 3_600,
      headers: {
        'twitch-eventsub-message-id': id,
        'twitch-eventsub-message-type': 'notification',
        'twitch-eventsub-subscription-type': 'channel.follow',
      },
      body: '{"subscription":{"type":"channel.follow"},"event":{"user_id":"1337","broadcaster_user_id":"12826"}}',
      sign: ({ body, secret, at }) => {
        const time = new Date(at).toISOString().replace('Z', '634234Z');
        const signature = `sha256=${hmac('sha256', secret, 'hex', id, time, body)}`;
        return { headers: { 'twitch-eventsub-message-timestamp': time, [header]: signature } };
      },
      unsign: withoutHeader(header),
      expects: { eventId: id, eventType: 'channel.follow', orderingKey: '12826' },
    },
  ],
} satisfies ProviderCase;
