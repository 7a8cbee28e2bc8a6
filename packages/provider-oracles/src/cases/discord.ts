import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { verifyKey } from 'discord-interactions';
import type { ProviderCase } from '../provider-case.ts';
import { unixSeconds } from '../requests/signatures.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const rawHex = (key: typeof publicKey) =>
  key.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
const header = 'x-signature-ed25519';
const timeHeader = 'x-signature-timestamp';

export const providerCase = {
  secret: rawHex(publicKey),
  otherSecret: rawHex(generateKeyPairSync('ed25519').publicKey),
  variants: [
    {
      name: 'webhook events',
      covers: 'body',
      toleranceSeconds: 3_600,
      body: '{"version":1,"application_id":"1","type":1,"event":{"type":"APPLICATION_AUTHORIZED","timestamp":"2026-11-22T07:00:00Z","data":{}}}',
      sign: ({ body, at }) => {
        const seconds = unixSeconds(at);
        const signature = signBytes(null, Buffer.concat([Buffer.from(seconds), body]), privateKey);
        return { headers: { [timeHeader]: seconds, [header]: signature.toString('hex') } };
      },
      unsign: withoutHeader(header),
      expects: { eventId: null, eventType: 'APPLICATION_AUTHORIZED', orderingKey: null },
      sdk: {
        name: 'discord-interactions: verifyKey',
        verify: ({ body, headers }, secret) =>
          verifyKey(body, headers[header]!, headers[timeHeader]!, secret),
      },
    },
  ],
} satisfies ProviderCase;
