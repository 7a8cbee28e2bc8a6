import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld();
const endpoint = await openEndpoint();
const env = { ...world.env, LOG_LEVEL: 'trace' };
const apps = await Promise.all([openApp('receiver', env), openApp('worker', env)]);
await Promise.all(apps.map((app) => app.waitUntilReady()));
const [receiver, worker] = apps;

it('secrets in headers, URLs, bodies, answers and errors stand in no log line, and the correlation id in those of both apps', async () => {
  const project = await seedProject(world);
  const planted = (place: string) => `planted-${place}-4f2a`;
  const fixedHeaders: [string, string][] = [['x-api-key', planted('fixed')]];
  const options = { retry: '1s', fixedHeaders };
  const signing = [
    await seedEndpoint(world, project.id, { url: `${endpoint.url}?token=${planted('url')}`, ...options }),
    await seedEndpoint(world, project.id, {
      url: `http://127.0.0.1:1/hook?secret=${planted('dead-url')}`,
      ...options,
    }),
  ];
  endpoint.answerWith(({ headers }) => ({
    statusCode: 500,
    body: `${planted('answer')} ${String(headers['x-api-key'])}`,
  }));
  const headers = {
    authorization: `Bearer ${planted('bearer')}`,
    cookie: `session=${planted('cookie')}`,
    'x-token': project.secret,
    'x-correlation-id': 'order-77',
  };
  const body = JSON.stringify({ event: 'payment.captured', card: planted('body'), echoed: project.secret });
  const query = `token=${planted('query')}`;
  expect((await postWebhook(receiver.url, project, { body, headers, query })).statusCode).toBe(202);
  await postWebhook(receiver.url, project, { body: `{"broken": "${planted('malformed')}"`, headers, query });
  const refused = { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  expect((await postWebhook(receiver.url, project, { body, headers: refused, query })).statusCode).toBe(401);

  const of = (app: typeof receiver, msg: string) =>
    app.logs.filter((line) => line['msg'] === msg && line['correlationId'] === 'order-77');
  await waitFor('every attempt to be logged', () => of(worker, 'delivery.attempted').length >= 4);
  expect(of(receiver, 'webhook.received').length).toBeGreaterThanOrEqual(2);
  await receiver.end();
  await worker.end();

  const text = JSON.stringify([...receiver.logs, ...worker.logs]);
  expect(text.match(/planted-[\w-]+/g)).toBeNull();
  const password = new URL(world.databaseUrl).password;
  const secrets = [project.secret, ...signing.map((each) => each.signingSecret), world.secretsKey];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  if (password !== '') expect(text).not.toContain(`:${password}@`);
});
