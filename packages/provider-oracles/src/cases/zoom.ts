import { createRequire } from 'node:module';
import type { ProviderCase } from '../provider-case.ts';
import { signedTimeAndBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

/** What the oracle uses of the package, whose types Node's resolution does not find. */
type Package = {
  AwsLambdaReceiver: new (options: { webhooksSecretToken: string }) => {
    start: () => (event: object, context: object) => Promise<{ statusCode: number }>;
  };
};

// The package's ES modules do not load in Node 20; its CommonJS does.
const { AwsLambdaReceiver } = createRequire(import.meta.url)('@zoom/rivet/teamchat') as Package;
const names = { signature: 'x-zm-signature', time: 'x-zm-request-timestamp' };

export const providerCase = {
  secret: 'zoom-oracle-secret-token-one',
  otherSecret: 'zoom-oracle-secret-token-two',
  variants: [
    {
      name: 'event subscriptions',
      ...signedTimeAndBody(names, { before: 'v0:', between: ':', prefix: 'v0=' }),
      toleranceSeconds: 86_400,
      body: '{"event":"meeting.started","event_ts":1763794800000,"payload":{"account_id":"A1","object":{"id":"1","uuid":"4444AAAiAAAAAiAiAiiAii=="}}}',
      headers: { 'x-zm-trackingid': 'v=2.0;clid=aw1;rid=WEB_1' },
      expects: {
        eventId: null,
        eventType: 'meeting.started',
        orderingKey: '4444AAAiAAAAAiAiAiiAii==',
      },
      sdk: {
        name: '@zoom/rivet: AwsLambdaReceiver',
        mistakes: hashesText,
        verify: async ({ body, headers }, secret) => {
          const receive = new AwsLambdaReceiver({ webhooksSecretToken: secret }).start();
          const answer = await receive({ body: body.toString(), headers, isBase64Encoded: false }, {});
          return answer.statusCode === 200;
        },
      },
    },
  ],
} satisfies ProviderCase;
