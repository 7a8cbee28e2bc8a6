import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { encodeMessage } from '@hqrelay/queue/messages';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { workExchange } from '@hqrelay/queue/topology';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openWorkerWorld } from './apps-world.ts';
import { receive } from './dead-letter-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openWorkerWorld();

/** Publishes a webhook as the receiver does. */
async function publish(projectId: string, id: string, endpointIds: string[]): Promise<void> {
  const urls = [world.env['RABBITMQ_URL'] as string];
  const connection = new BrokerConnection({ urls, name: 'test', onChange: () => {} });
  const publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 5_000, inFlightMax: 10 });
  connection.start();
  await waitFor('the connection', () => publisher.health.isUp);
  const envelope = { v: 1 as const, id, projectId, eventType: null, correlationId: 'test', endpointIds };
  const body = encodeMessage({ envelope: { ...envelope, headers: [] }, body: Buffer.from('{"a":1}') });
  const target = { exchange: workExchange, routingKey: 'hqrelay.webhooks' };
  expect(await publisher.publish({ ...target, body })).toEqual({ kind: 'confirmed' });
  await connection.stop();
}

type ShownWebhook = {
  deliveries: { state: string }[];
  replays: { state: string; attempts: number; deliveryId: string }[];
  attempts: { lane: string; attemptNum: number; deliveryId: string }[];
};
const showWebhook = async (id: string) =>
  jsonOf(await world.run('webhook', 'show', id, '--json')) as ShownWebhook;

it('a dead letter is listed, delivered by dlq replay under its webhook id, and sent again by replay', async () => {
  const { endpoint } = world;
  const project = jsonOf(await world.run('project', 'create', '--name', 'Acme', '--json')) as {
    projectId: string;
    secret: string;
  };
  const { projectId, secret } = project;
  const options = ['--retry', '1s', '--forward-credentials'];
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url, ...options);
  const { rows } = await world.sql.query<{ id: string }>(
    'select id from project_secrets where project_id = $1',
    [projectId],
  );
  const credentials = [{ name: 'Authorization', secretId: rows[0]!.id, before: 'Bearer ', after: '' }];
  const id = await receive(world, projectId, { endpointIds: [endpointId], payload: { credentials } });
  endpoint.answerWith({ statusCode: 500 });
  await publish(projectId, id, [endpointId]);

  const [letter] = await waitFor('it to be listed', async () => {
    const listed = jsonOf(await world.run('dlq', 'list', '--project', projectId, '--json'));
    return (listed as { id: string }[]).length > 0 && (listed as { id: string }[]);
  });
  expect(letter).toMatchObject({ kind: 'delivery', webhookLogId: id, attempts: 2, lastStatusCode: 500 });
  const before = endpoint.requests.length;
  endpoint.answerWith({});
  jsonOf(await world.run('dlq', 'replay', letter!.id, '--json'));
  await endpoint.waitForRequests(before + 1);

  const request = endpoint.requests[before]!;
  expect(request.body.toString()).toBe('{"a":1}');
  expect(request.headers).toMatchObject({
    'webhook-id': id,
    'x-hqrelay-attempt': '1',
    'x-correlation-id': 'correlation-1',
    'content-type': 'application/json',
    authorization: `Bearer ${secret}`,
  });
  const shown = await waitFor('it to be recorded', async () => {
    const found = await showWebhook(id);
    return found.replays[0]?.state === 'delivered' && found;
  });
  expect(shown).toMatchObject({ deliveries: [{ state: 'dead_lettered' }], replays: [{ attempts: 1 }] });
  expect(shown.attempts.at(-1)).toMatchObject({
    lane: 'replay',
    attemptNum: 1,
    deliveryId: shown.replays[0]!.deliveryId,
  });
  expect(jsonOf(await world.run('dlq', 'list', '--project', projectId, '--json'))).toEqual([]);

  jsonOf(await world.run('replay', id, '--json'));
  await endpoint.waitForRequests(before + 2);
  expect(endpoint.requests[before + 1]!.headers['webhook-id']).toBe(id);
});
