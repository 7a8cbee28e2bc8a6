import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import type { ProviderCase } from '../provider-case.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });
const { publicKey, privateKey } = newKeys();
const pem = (key: typeof publicKey) => key.export({ type: 'spki', format: 'pem' }).toString();
const header = 'x-signature-sha256';

// The public key of Wise's sandbox, and a request that it signed.
const publishedKey =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwpb91cEYuyJNQepZAVfPZIlPZfNUefH+n6w9SW3fykqKu938cR7WadQv87oF2VuT+fDt7kqeRziTmPSUhqPUys/V2Q1rlfJuXbE+Gga37t7zwd0egQ+KyOEHQOpcTwKmtZ81ieGHynAQzsn1We3jwt760MsCPJ7GMT141ByQM+yW1Bx+4SG3IGjXWyqOWrcXsxAvIXkpUD/jK/L958CgnZEgz0BSEh0QxYLITnW1lLokSx/dTianWPFEhMC9BgijempgNXHNfcVirg1lPSygz7KqoKUN0oHqWLr2U1A+7kqrl6O2nx3CKs1bj1hToT1+p4kcMoHXA7kA+VBLUpEsVwIDAQAB';
const publishedSignature =
  'wKcKCYXAzxNgiu7xmoDm943NUni7Rz33QN8JkEA9dWSGebgndonabgSj18Y4C08OrwVmueGsED2s00M7DtJVcYKOS1i3G4TMVx+mgM3aL9djMBkQtiYNBFUd6wrPI7ZUNHv/TrlKSjTMc+6JFvUvJ7owY3z85e3I4jLRLJowMFvO8kvCJ60+1pY9wDwZvtZ//WS93LrwGjk9Dvwzpmu0w+P4J75tETT5qC3Uv0y5G2yO8SEoO3yNP/tg/BOli02niHb53vEOUWUb9bly6thnfMoXoiV/osoGxgF20R58RlvkAmezyyl1Sv542TfS2DpiwVnmjjjkCyXeSUcKookYLQ==';

export const providerCase = {
  secret: pem(publicKey),
  otherSecret: pem(newKeys().publicKey),
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      headers: { 'x-delivery-id': '1f3b8a5e-1' },
      body: '{"data":{"resource":{"id":111,"type":"transfer"},"current_state":"processing"},"event_type":"transfers#state-change"}',
      sign: ({ body }) => ({
        headers: { [header]: signBytes('sha256', body, privateKey).toString('base64') },
      }),
      unsign: withoutHeader(header),
      expects: { eventId: '1f3b8a5e-1', eventType: 'transfers#state-change', orderingKey: '111' },
      vectors: [
        {
          source: 'github.com/transferwise/digital-signatures-examples, verify-webhook-signature',
          secret: publishedKey,
          at: Date.parse('2021-08-23T10:12:50Z'),
          covered: ['49983981', '49983982'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: { 'content-type': 'application/json', [header]: publishedSignature },
            body: Buffer.from(
              '{"data":{"resource":{"id":49983981,"profile_id":16055450,"account_id":14124090,"type":"transfer"},"current_state":"incoming_payment_waiting","previous_state":null,"occurred_at":"2021-08-23T10:12:50Z"},"subscription_id":"90aa8e14-4ef1-4a56-861c-f3c9cde097ea","event_type":"transfers#state-change","schema_version":"2.0.0","sent_at":"2021-08-23T10:12:50Z"}',
            ),
          },
        },
      ],
    },
  ],
} satisfies ProviderCase;
