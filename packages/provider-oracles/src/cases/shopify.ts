import '@shopify/shopify-api/adapters/node';
import { shopifyApi } from '@shopify/shopify-api';
import type { ProviderCase, ProviderRequest } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

/** The package's own check, which also requires the topic, shop, version and id headers. */
async function validate(request: ProviderRequest, secret: string): Promise<boolean> {
  const shopify = shopifyApi({
    apiKey: 'unused',
    apiSecretKey: secret,
    apiVersion: '2026-01' as never,
    hostName: 'relay.example',
    isEmbeddedApp: false,
  });
  const rawRequest = { method: request.method, url: request.url, headers: request.headers };
  const result = await shopify.webhooks.validate({
    rawBody: request.body.toString(),
    rawRequest,
    rawResponse: {},
  });
  return result.valid;
}

const body =
  '{"id":820982911946154508,"admin_graphql_api_id":"gid://shopify/Order/820982911946154508","total_price":"42.00"}';
const metadata = (prefix: string) => ({
  [`${prefix}shopify-topic`]: 'orders/create',
  [`${prefix}shopify-shop-domain`]: 'demo.myshopify.com',
  [`${prefix}shopify-api-version`]: '2026-01',
  [`${prefix}shopify-webhook-id`]: 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  [`${prefix}shopify-event-id`]: '98880550-7158-44d4-b7cd-2c97c8a091b5',
});
const expects = {
  eventId: 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  eventType: 'orders/create',
  orderingKey: 'gid://shopify/Order/820982911946154508',
};
const sdk = { name: '@shopify/shopify-api: webhooks.validate', verify: validate, mistakes: hashesText };

export const providerCase = {
  secret: 'shopify-oracle-client-secret-one',
  otherSecret: 'shopify-oracle-client-secret-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-shopify-hmac-sha256', { encoding: 'base64' }),
      headers: metadata('x-'),
      body,
      expects,
      sdk,
    },
    {
      name: 'events',
      ...signedBody('shopify-hmac-sha256', { encoding: 'base64' }),
      headers: metadata(''),
      body,
      expects,
      sdk,
    },
  ],
} satisfies ProviderCase;
