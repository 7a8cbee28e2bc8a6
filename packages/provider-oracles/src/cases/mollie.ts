import { SignatureValidator } from 'mollie-api-typescript';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

const header = 'x-mollie-signature';

export const providerCase = {
  secret: 'mollie-oracle-signing-secret-one',
  otherSecret: 'mollie-oracle-signing-secret-two',
  variants: [
    {
      name: 'next-gen',
      ...signedBody(header, { prefix: 'sha256=' }),
      body: '{"resource":"event","id":"event_1","type":"payment-link.paid","entityId":"pl_1","createdAt":"2026-11-22T07:00:00.0Z"}',
      expects: { eventId: 'event_1', eventType: 'payment-link.paid', orderingKey: 'pl_1' },
      sdk: {
        name: 'mollie-api-typescript: SignatureValidator.validate, .createSignature',
        mistakes: hashesText,
        sign: async ({ body, secret }) => ({
          headers: {
            [header]: `sha256=${await SignatureValidator.createSignature(body.toString(), secret)}`,
          },
        }),
        verify: ({ body, headers }, secret) =>
          SignatureValidator.validate(body.toString(), secret, headers[header]),
      },
    },
    {
      name: 'next-gen without a prefix',
      ...signedBody(header),
      body: '{"resource":"event","id":"event_2","type":"sales-invoice.paid","entityId":"invoice_1"}',
      expects: { eventId: 'event_2', eventType: 'sales-invoice.paid', orderingKey: 'invoice_1' },
      sdk: {
        name: 'mollie-api-typescript: SignatureValidator.validate, .createSignature',
        mistakes: hashesText,
        sign: async ({ body, secret }) => ({
          headers: { [header]: await SignatureValidator.createSignature(body.toString(), secret) },
        }),
        verify: ({ body, headers }, secret) =>
          SignatureValidator.validate(body.toString(), secret, headers[header]),
      },
    },
  ],
} satisfies ProviderCase;
