import { verifySlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import type { ProviderCase } from '../provider-case.ts';
import { signedTimeAndBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

const names = { signature: 'x-slack-signature', time: 'x-slack-request-timestamp' };
const scheme = signedTimeAndBody(names, { before: 'v0:', between: ':', prefix: 'v0=' });

export const providerCase = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  otherSecret: '8f742231b10e8888abcd99yyyzzz85a6',
  variants: [
    {
      name: 'events',
      ...scheme,
      toleranceSeconds: 300,
      body: '{"token":"unused","team_id":"T1","type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"C1","text":"paid"}}',
      expects: { eventId: 'Ev1', eventType: 'message', orderingKey: 'C1' },
      sdk: {
        name: '@slack/bolt: verifySlackRequest',
        mistakes: hashesText,
        verify: ({ body, headers }, secret) => {
          verifySlackRequest({
            signingSecret: secret,
            body: body.toString(),
            headers: {
              'x-slack-signature': headers[names.signature]!,
              'x-slack-request-timestamp': Number(headers[names.time]),
            },
          });
          return true;
        },
        toleranceSeconds: 300,
      },
      vectors: [
        {
          source: 'api.slack.com/authentication/verifying-requests-from-slack',
          secret: '8f742231b10e8888abcd99yyyzzz85a5',
          at: 1_531_420_618_000,
          covered: ['testteamnow', 'testteamnew'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              [names.time]: '1531420618',
              [names.signature]: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
            },
            body: Buffer.from(
              'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
            ),
          },
        },
      ],
    },
  ],
} satisfies ProviderCase;
