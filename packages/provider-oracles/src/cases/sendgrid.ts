import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { EventWebhook } from '@sendgrid/eventwebhook';
import type { ProviderCase } from '../provider-case.ts';
import { unixSeconds } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { publicKey, privateKey } = newKeys();
const spki = (key: typeof publicKey) => key.export({ type: 'spki', format: 'der' }).toString('base64');
const header = 'x-twilio-email-event-webhook-signature';
const timeHeader = 'x-twilio-email-event-webhook-timestamp';
const eventWebhook = new EventWebhook();

export const providerCase = {
  secret: spki(publicKey),
  otherSecret: spki(newKeys().publicKey),
  variants: [
    {
      name: 'event webhook',
      covers: 'body',
      toleranceSeconds: 2 * 86_400,
      body: '[{"email":"a@example.com","event":"delivered","sg_event_id":"ZGVsaXZlcmVk","sg_message_id":"14c5d75ce93.dfd.64b469"}]',
      sign: ({ body, at }) => {
        const seconds = unixSeconds(at);
        const signature = signBytes('sha256', Buffer.concat([Buffer.from(seconds), body]), privateKey);
        return { headers: { [timeHeader]: seconds, [header]: signature.toString('base64') } };
      },
      unsign: withoutHeader(header),
      expects: { eventId: null, eventType: 'delivered', orderingKey: '14c5d75ce93.dfd.64b469' },
      sdk: {
        name: '@sendgrid/eventwebhook: verifySignature',
        mistakes: hashesText,
        verify: ({ body, headers }, secret) =>
          eventWebhook.verifySignature(
            eventWebhook.convertPublicKeyToECDSA(secret),
            body,
            headers[header]!,
            headers[timeHeader]!,
          ),
      },
    },
  ],
} satisfies ProviderCase;
