import { execFileSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openAppsWorld } from './apps-world.ts';

const world = await openAppsWorld();

/** Signs with OpenSSL: an oracle independent of the relay and of the library. */
function signatureByOpenssl(secret: string, signed: Buffer): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64').toString('hex');
  const options = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'];
  return `v1,${execFileSync('openssl', options, { input: signed }).toString('base64')}`;
}

it('a request has the new and the old signature during the overlap of rotate-secret, then the new alone', async () => {
  const { endpoint } = world;
  const { projectId, endpointId, signingSecret: old } = await world.createProjectWithEndpoint();
  const sendAndGet = async () => {
    const count = endpoint.requests.length;
    await world.send(projectId);
    const requests = await endpoint.waitForRequests(count + 1);
    const { body, headers } = requests[count]!;
    const given = headers as Record<string, string>;
    const signed = Buffer.concat([
      Buffer.from(`${given['webhook-id']}.${given['webhook-timestamp']}.`),
      body,
    ]);
    return { body, given, signed, signatures: given['webhook-signature']!.split(' ') };
  };
  const rotate = async (overlap: string) => {
    const argv = ['endpoint', 'rotate-secret', endpointId, '--overlap', overlap];
    return ((await world.runJson(...argv)) as { signingSecret: string }).signingSecret;
  };

  const before = await sendAndGet();
  expect(before.signatures).toEqual([signatureByOpenssl(old, before.signed)]);

  const fresh = await rotate('1h');
  // The worker learns of the rotation through Redis, a moment after the command has ended.
  const during = await waitFor('both signatures', async () => {
    const sent = await sendAndGet();
    return sent.signatures.length === 2 && sent;
  });
  expect(during.signatures).toEqual([
    signatureByOpenssl(fresh, during.signed),
    signatureByOpenssl(old, during.signed),
  ]);
  for (const secret of [old, fresh]) new Webhook(secret).verify(during.body, during.given);

  const last = await rotate('0s');
  const after = await waitFor('one signature', async () => {
    const sent = await sendAndGet();
    return sent.signatures.length === 1 && sent;
  });
  expect(after.signatures).toEqual([signatureByOpenssl(last, after.signed)]);
  new Webhook(last).verify(after.body, after.given);
});
