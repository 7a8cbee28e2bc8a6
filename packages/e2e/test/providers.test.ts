import { findPreset } from '@hqrelay/domain/providers/presets';
import { signRequest } from '@hqrelay/domain/providers/signature/sign-request';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const publicUrl = 'https://hooks.example.com/relay';
const world = await openWorld();
const env = { ...world.env, PUBLIC_URL: publicUrl };
const [receiver, worker] = await Promise.all([openApp('receiver', env), openApp('worker', env)]);
await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);

/** Posts as the provider does, which knows the URL as PUBLIC_URL has it. */
async function post(
  project: SeededProject,
  provider: string,
  body: string,
  headers: Record<string, string> = {},
) {
  const path = `/v1/webhooks/${project.id}?shop=7`;
  const draft = { method: 'POST', url: publicUrl + path, headers, body: Buffer.from(body) };
  const keys = { secrets: [{ id: 'secret', key: project.secret }] };
  const signed = signRequest(findPreset(provider)!.schemes, keys, draft, Date.now());
  return fetch(receiver.url + path, { method: 'POST', headers: signed.headers, body });
}

it('a token of a provider is delivered only to the endpoint that is added with --forward-credentials', async () => {
  const [trusted, other] = [await openEndpoint(), await openEndpoint()];
  const project = await seedProject(world, { provider: 'xendit', secret: 'the token of the account' });
  await seedEndpoint(world, project.id, { url: trusted.url, forwardCredentials: true });
  await seedEndpoint(world, project.id, { url: other.url });

  const answer = await post(project, 'xendit', '{"event":"payment.capture"}', { 'webhook-id': 'w1' });

  expect(answer.status).toBe(202);
  const [withToken] = await trusted.waitForRequests(1);
  const [without] = await other.waitForRequests(1);
  expect(withToken?.headers['x-callback-token']).toBe(project.secret);
  expect(without?.headers['x-callback-token']).toBeUndefined();
  expect(without?.headers).toMatchObject({ 'webhook-id': 'w1', 'hqrelay-webhook-id': expect.any(String) });
});

it('a webhook whose URL is signed arrives with the headers and the bytes that the provider sent', async () => {
  const endpoint = await openEndpoint();
  const project = await seedProject(world, { provider: 'square' });
  await seedEndpoint(world, project.id, { url: endpoint.url, eventTypes: ['payment.*'] });
  const body = '{"event_id":"e1", "type":"payment.updated"}\n';

  expect((await post(project, 'square', body)).status).toBe(202);

  const [request] = await endpoint.waitForRequests(1);
  expect(request?.body.toString()).toBe(body);
  expect(request?.headers['x-square-hmacsha256-signature']).toMatch(/^[A-Za-z0-9+/]{43}=$/);
});
