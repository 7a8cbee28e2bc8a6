import { startApp } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { loadCase } from '../src/load-cases.ts';
import type { ProviderRequest } from '../src/provider-case.ts';
import { sdkAccepts } from '../src/sdk-verdict.ts';
import { signedRequest } from '../src/requests/signed-request.ts';

const publicUrl = 'https://relay.example';
const world = await createWorld(inject('run'));
afterAll(() => world.close());
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());
const env = { ...world.env, PUBLIC_URL: publicUrl };
const apps = await Promise.all((['receiver', 'worker'] as const).map((app) => startApp(app, { env })));
afterAll(async () => void (await Promise.all(apps.map((app) => app.end()))));
await Promise.all(apps.map((app) => app.waitUntilReady()));
const receiverUrl = apps[0]!.url;

/** Posts to the receiver what the provider posts to the public URL. */
async function post({ method, url, headers, body }: ProviderRequest): Promise<number> {
  const response = await fetch(url.replace(publicUrl, receiverUrl), { method, headers, body });
  await response.arrayBuffer();
  return response.status;
}

describe('from the package of the provider through the relay to the package at the endpoint', () => {
  it.each([
    'stripe',
    'razorpay',
    'shopify',
    'slack',
    'standard-webhooks',
    'adyen',
    'square',
    'twilio',
    'hubspot',
    'braintree',
  ])(
    'a webhook of %s is accepted, and its forward passes the package, and one without its signature is refused',
    async (name) => {
      const { secret, settings, variants } = await loadCase(name);
      const variant = variants[0]!;
      const sdk = variant.sdk!;
      const project = await seedProject(world, {
        provider: name,
        secret,
        ...(settings && { providerSettings: settings }),
      });
      await seedEndpoint(world, project.id, { url: endpoint.url });
      const url = `${publicUrl}/v1/webhooks/${project.id}`;
      const request = await signedRequest(variant, {
        secret,
        at: Date.now(),
        url,
        ...(sdk.sign && { sign: sdk.sign }),
      });

      const before = endpoint.requests.length;
      expect(await post(request)).toBeLessThan(300);
      const received = (await endpoint.waitForRequests(before + 1)).at(-1)!;
      expect(received.body.equals(request.body)).toBe(true);
      const forward = {
        ...request,
        headers: received.headers as Record<string, string>,
        body: received.body,
      };
      expect(await sdkAccepts(sdk, forward, secret)).toBe(true);

      if (!variant.unsign) throw new Error(`${name} has no unsigned form`);
      expect(await post(variant.unsign(request))).toBe(401);
      expect(endpoint.requests).toHaveLength(before + 1);
    },
  );
});
