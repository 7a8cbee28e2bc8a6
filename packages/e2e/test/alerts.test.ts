import { addAlert } from '@hqrelay/actions/alert/add-alert';
import type { AlertChannel } from '@hqrelay/domain/alerts/alert-kind';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { startMailServer } from '@hqrelay/testing/network/mail-server';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld();
const mail = await startMailServer();
afterAll(() => mail.close());
const [endpoint, callbacks] = await Promise.all([openEndpoint(), openEndpoint()]);
const workerEnv = {
  ...world.env,
  SMTP_URL: mail.url,
  ALERT_FROM: 'HQRelay <alerts@relay.example>',
  CONSOLE_URL: 'https://relay.example',
};
const receiver = await openApp('receiver', world.env);
let worker = await openApp('worker', workerEnv);
await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);

async function add(projectId: string, channel: AlertChannel, target: string) {
  const added = await addAlert(
    {
      pool: world.sql,
      actor: 'cli:test',
      secretsKey: () => world.secretsKey,
      announceChange: () => Promise.resolve(),
    },
    parsePolicy({ allowPrivate: true, allowCidrs: [] }),
    { projectId, kinds: ['endpoint_failing'], channel, target, windowMs: 900_000 },
  );
  if (added.kind === 'refused') throw new Error(added.message);
  return added.value;
}

it('a failing endpoint is one mail and one signed callback, and its recovery another of each, across a crash of the worker', async () => {
  const project = await seedProject(world);
  const { id: endpointId } = await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s,1s,48h' });
  await add(project.id, 'email', 'ops@shop.example');
  const { signingSecret } = await add(project.id, 'webhook', callbacks.url);

  endpoint.answerWith({ statusCode: 503, body: 'down for maintenance' });
  for (let count = 0; count < 3; count += 1)
    await postWebhook(receiver.url, project, { webhookId: `evt-${count}` });
  const [firing] = await mail.waitForMails(1);
  expect(firing?.to).toEqual(['ops@shop.example']);
  expect(firing?.text).toContain('An endpoint is failing');
  expect(firing?.text).toContain('HTTP 503');
  expect(firing?.text).toContain(`https://relay.example/projects/${project.id}/endpoints/${endpointId}`);

  // A worker that is killed between a send and its row sends the message again.
  await waitFor('both messages to be recorded', async () => {
    const { rows } = await world.sql.query("select from alert_attempts where status = 'sent'");
    return rows.length === 2;
  });

  await worker.end('SIGKILL');
  worker = await openApp('worker', workerEnv);
  endpoint.answerWith({ statusCode: 200 });
  await worker.waitUntilReady();
  await postWebhook(receiver.url, project, { webhookId: 'evt-works' });
  const [, recovered] = await mail.waitForMails(2);
  expect(recovered?.text).toContain('The endpoint works again');

  const requests = await callbacks.waitForRequests(2);
  const bodies = requests.map(({ body, headers }) =>
    new Webhook(signingSecret as string).verify(body, headers as Record<string, string>),
  );
  const facts = { type: 'endpoint_failing', projectId: project.id, endpointId, count: 3 };
  expect(bodies).toEqual([
    expect.objectContaining({ ...facts, state: 'firing', reason: 'HTTP 503' }),
    expect.objectContaining({ ...facts, state: 'recovered' }),
  ]);
  expect(mail.mails).toHaveLength(2);
  expect(callbacks.requests).toHaveLength(2);
});
