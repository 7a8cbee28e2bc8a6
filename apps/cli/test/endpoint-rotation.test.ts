import { execFileSync } from 'node:child_process';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliWorld, createCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

let world: CliWorld;
let endpoint: RecordingEndpoint;
let receiver: AppProcess;
let worker: AppProcess;

beforeAll(async () => {
  world = await createCliWorld();
  endpoint = await startRecordingEndpoint();
  [receiver, worker] = await Promise.all([
    startApp('receiver', { env: world.env }),
    startApp('worker', { env: world.env }),
  ]);
  await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);
});

afterAll(async () => {
  await Promise.all([receiver.end(), worker.end()]);
  await endpoint.close();
  await world.close();
});

/** Another implementation than ours and the library's. */
function signatureByOpenssl(secret: string, signed: Buffer): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64').toString('hex');
  const options = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'];
  return `v1,${execFileSync('openssl', options, { input: signed }).toString('base64')}`;
}

it('a webhook after rotate-secret --overlap has both signatures, the new one first, and one when it is over', async () => {
  const projectId = await world.createProject();
  const { endpointId, signingSecret: old } = await world.addEndpoint(projectId, endpoint.url);
  const sendAndGet = async () => {
    const count = endpoint.requests.length;
    const port = new URL(receiver.url).port;
    await world.runWith({ RECEIVER_PORT: port }, ['send', '--project', projectId, '--json']);
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
    const argv = ['endpoint', 'rotate-secret', endpointId, '--overlap', overlap, '--json'];
    return (jsonOf(await world.runWith({}, argv)) as { signingSecret: string }).signingSecret;
  };

  const before = await sendAndGet();
  expect(before.signatures).toEqual([signatureByOpenssl(old, before.signed)]);

  const fresh = await rotate('1h');
  const during = await sendAndGet();
  expect(during.signatures).toEqual([
    signatureByOpenssl(fresh, during.signed),
    signatureByOpenssl(old, during.signed),
  ]);
  for (const secret of [old, fresh]) new Webhook(secret).verify(during.body, during.given);

  const last = await rotate('0s');
  const after = await sendAndGet();
  expect(after.signatures).toEqual([signatureByOpenssl(last, after.signed)]);
  new Webhook(last).verify(after.body, after.given);
});
