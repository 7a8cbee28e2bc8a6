import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

const header = 'x-docusign-signature-1';

export const providerCase = {
  secret: 'docusign-oracle-connect-key-one',
  otherSecret: 'docusign-oracle-connect-key-two',
  variants: [
    {
      name: 'Connect',
      ...signedBody(header, { encoding: 'base64' }),
      body: '{"event":"envelope-completed","generatedDateTime":"2026-11-22T07:00:00.000Z","data":{"accountId":"1","envelopeId":"7f3e"}}',
      several: (request, wrong) => ({
        ...request,
        headers: {
          ...request.headers,
          [header]: wrong.headers[header]!,
          'x-docusign-signature-2': request.headers[header]!,
        },
      }),
      expects: {
        eventId: '7f3e:envelope-completed:2026-11-22T07:00:00.000Z',
        eventType: 'envelope-completed',
        orderingKey: '7f3e',
      },
    },
  ],
} satisfies ProviderCase;
