import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'dropbox-oracle-secret-number-one',
  otherSecret: 'dropbox-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-dropbox-signature'),
      body: '{"list_folder":{"accounts":["dbid:AAH4f99T0taONIb"]},"delta":{"users":[12345678]}}',
      expects: { eventId: null, eventType: null, orderingKey: 'dbid:AAH4f99T0taONIb' },
    },
  ],
} satisfies ProviderCase;
