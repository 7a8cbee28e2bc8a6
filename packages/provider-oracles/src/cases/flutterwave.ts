import type { ProviderCase } from '../provider-case.ts';
import { signedBody, staticToken } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'flutterwave-oracle-secret-hash-one',
  otherSecret: 'flutterwave-oracle-secret-hash-two',
  variants: [
    {
      name: 'v4',
      ...signedBody('flutterwave-signature', { encoding: 'base64' }),
      body: '{"webhook_id":"wbk_1","type":"charge.completed","data":{"id":"chg_1","reference":"ref_1","amount":4200}}',
      expects: { eventId: 'wbk_1', eventType: 'charge.completed', orderingKey: 'ref_1' },
    },
    {
      name: 'v3',
      ...staticToken('verif-hash'),
      body: '{"event":"charge.completed","data":{"id":285959875,"tx_ref":"tx_1","amount":4200}}',
      expects: { eventId: null, eventType: 'charge.completed', orderingKey: 'tx_1' },
    },
  ],
} satisfies ProviderCase;
