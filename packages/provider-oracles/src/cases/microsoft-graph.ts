import type { ProviderCase } from '../provider-case.ts';

const place = 'CLIENT_STATE';
const notification = (id: string) =>
  `{"id":"${id}","subscriptionId":"s1","clientState":"${place}","changeType":"created","resource":"Users/1/messages/2"}`;

export const providerCase = {
  secret: 'microsoft-graph-oracle-state-one',
  otherSecret: 'microsoft-graph-oracle-state-two',
  variants: [
    {
      name: 'change notifications',
      covers: 'bearer',
      body: `{"value":[${notification('n1')},${notification('n2')}]}`,
      sign: ({ body, secret }) => ({ body: Buffer.from(body.toString().replaceAll(place, secret)) }),
      unsign: (request) => ({
        ...request,
        body: Buffer.from(request.body.toString().replaceAll(/"clientState":"[^"]*",/g, '')),
      }),
      expects: { eventId: null, eventType: 'created', orderingKey: 'Users/1/messages/2' },
    },
  ],
} satisfies ProviderCase;
