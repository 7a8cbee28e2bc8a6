// Boots the built receiver and worker against private services and sends one signed webhook through.
import assert from 'node:assert/strict';
import { type AppProcess, startApp } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { startRunServices } from '@hqrelay/testing/run-services';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';

const say = (line: string) => process.stdout.write(`${line}\n`);
const cleanUp: (() => Promise<unknown>)[] = [];
const apps: AppProcess[] = [];

try {
  await sendOneThrough();
  say('smoke: the built apps accepted, delivered and recorded a webhook, and stopped cleanly');
} catch (error) {
  console.error(error);
  for (const app of apps) console.error(`last log lines of ${app.url}:`, app.logs.slice(-10));
  process.exitCode = 1;
} finally {
  for (const step of cleanUp.reverse()) await step();
}

async function sendOneThrough(): Promise<void> {
  const services = await startRunServices(say);
  cleanUp.push(services.stop);
  const world = await createWorld(services.urls);
  cleanUp.push(world.close);
  const endpoint = await startRecordingEndpoint();
  cleanUp.push(endpoint.close);

  const receiver = await startApp('receiver', { env: world.env, built: true });
  apps.push(receiver);
  cleanUp.push(() => receiver.end());
  const worker = await startApp('worker', { env: world.env, built: true });
  apps.push(worker);
  cleanUp.push(() => worker.end());
  await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);

  const project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: endpoint.url });
  const body = '{"event":"payment.captured", "text":"bytes, not JSON:  \\u00e9"}';
  // As a provider does, which sends again what a busy machine could not store in time.
  const answer = await waitFor('a 202', async () => {
    const given = await postWebhook(receiver.url, project, { body });
    assert.equal(given.statusCode, 202, given.text);
    return given;
  });

  const [delivered] = await endpoint.waitForRequests(1);
  assert.equal(delivered?.body.toString(), body);
  assert.equal(delivered?.headers['webhook-id'], answer.body.id);
  const state = await waitFor('the delivery to be recorded', async () => {
    const { rows } = await world.sql.query<{ state: string; attempts: number }>(
      'select state, attempts::int from delivery_status where webhook_log_id = $1',
      [answer.body.id],
    );
    return rows[0]?.state === 'delivered' && rows[0];
  });
  assert.equal(state.attempts, 1);
  assert.deepEqual(await Promise.all(apps.map((app) => app.end())), [0, 0], 'exit codes after SIGTERM');
}
