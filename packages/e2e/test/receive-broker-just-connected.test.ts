import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, expect, it } from 'vitest';
import { openApp, openWorld } from './open-world.ts';

const world = await openWorld({ own: ['rabbitmq'] });
const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
afterAll(() => connection.stop());
connection.start();
const receiver = await openApp('receiver', world.env);
const project = await seedProject(world);
await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' });

async function accept(webhookId: string): Promise<void> {
  const answer = await postWebhook(receiver.url, project, { webhookId, body: `{"of":"${webhookId}"}` });
  expect(answer.statusCode).toBe(202);
}

async function published(): Promise<number> {
  return (await connection.queueDepths(['hqrelay.webhooks'])).get('hqrelay.webhooks') ?? 0;
}

it('one webhook waits for its confirm while the broker confirms nothing, and the others go through the outbox', async () => {
  const isReady = async () => {
    const response = await fetch(`${receiver.url}/health/ready`);
    return ((await response.json()) as { status: string }).status === 'ready' && connection.health.isUp;
  };
  await waitFor('the connections', isReady);
  const broker = world.servers.rabbitmq!;
  broker.freeze();
  try {
    await Promise.all(Array.from({ length: 20 }, (_, i) => accept(`frozen ${i}`)));
  } finally {
    broker.thaw();
  }
  await waitFor('a webhook to go directly to the broker', async () => {
    const before = await published();
    await accept(`direct ${before}-${performance.now()}`);
    return (await published()) > before;
  });
  const { rows } = await world.sql.query('select from outbox');
  expect(rows.length).toBeGreaterThanOrEqual(20);
  expect(await published()).toBeLessThan(20);
});
