import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { workExchange } from '@hqrelay/queue/topology';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { createCertificates } from '@hqrelay/testing/certificates';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let world: World;
let receiver: AppProcess;
let worker: AppProcess | undefined;
let endpoint: RecordingEndpoint;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  endpoint = await startRecordingEndpoint();
  receiver = await startApp('receiver', { env: world.env });
  // A receiver is ready before RabbitMQ is, but this test reads the queue.
  await waitFor('RabbitMQ', async () => {
    const metrics = await (await fetch(`${receiver.url}/metrics`)).text();
    return metrics.includes('hqrelay_dependency_up{dependency="rabbitmq"} 1');
  });
});

afterAll(async () => {
  await Promise.all([receiver.end(), worker?.end()]);
  await endpoint.close();
  await world.close();
});

const requestsAt = (path: string) => endpoint.requests.filter((request) => request.path === path);

it('a credential is sent to the endpoint with credential forwarding alone, and is neither stored nor queued', async () => {
  const project = await seedProject(world);
  const url = (path: string) => endpoint.url.replace('/hook', path);
  await seedEndpoint(world, project.id, { url: url('/with'), forwardCredentials: true });
  await seedEndpoint(world, project.id, { url: url('/without') });
  const headers = {
    'X-Callback-Token': project.secret,
    Authorization: `Bearer ${project.secret}`,
    Cookie: `session=of-another-customer; token=${project.secret}`,
    'X-Api-Key': 'of-another-customer',
    'X-Any-Name': project.secret,
  };
  const query = `tenant=7&given=${encodeURIComponent(project.secret)}`;
  const answer = await postWebhook(receiver.url, project, { headers, query });
  expect(answer.statusCode).toBe(202);

  // No worker runs yet, so the queued message can be read.
  const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  const publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 5_000, inFlightMax: 10 });
  connection.start();
  await waitFor('the connection', () => publisher.health.isUp);
  const queued: Buffer[] = [];
  await connection.pull('hqrelay.webhooks', async (content) => void queued.push(content));
  // Where the broker's confirm was late the outbox has the message too, or alone.
  const outbox = await world.sql.query<{ message: Buffer }>('delete from outbox returning message');
  queued.push(...outbox.rows.map(({ message }) => message));
  expect(queued.length).toBeGreaterThanOrEqual(1);
  const { rows } = await world.sql.query('select headers::text, query from webhook_payloads where id = $1', [
    answer.body.id,
  ]);
  for (const stored of [...queued.map((each) => each.toString('latin1')), rows[0].headers as string]) {
    expect(stored).not.toContain(project.secret);
    expect(stored).not.toContain('of-another-customer');
  }
  expect(rows[0].query).toBe('tenant=7&given=***');
  expect(queued[0]!.toString('latin1')).toContain('Bearer');

  const publication = { exchange: workExchange, routingKey: 'hqrelay.webhooks', body: queued[0]! };
  expect(await publisher.publish(publication)).toEqual({ kind: 'confirmed' });
  await connection.stop();
  worker = await startApp('worker', { env: world.env });
  await waitFor('both', () => requestsAt('/with').length === 1 && requestsAt('/without').length === 1);
  const [withCredentials] = requestsAt('/with');
  expect(withCredentials?.headers).toMatchObject({
    'x-callback-token': project.secret,
    authorization: `Bearer ${project.secret}`,
    'x-any-name': project.secret,
  });
  expect(withCredentials?.headers).not.toHaveProperty('cookie');
  expect(withCredentials?.headers).not.toHaveProperty('x-api-key');
  const [without] = requestsAt('/without');
  for (const name of ['x-callback-token', 'authorization', 'x-any-name', 'cookie', 'x-api-key']) {
    expect(without?.headers).not.toHaveProperty(name);
  }
});

it('a delivery uses the certificate authority and the client certificate of its own endpoint', async () => {
  const certificates = createCertificates();
  const authority = certificates.issue('authority.example');
  const served = certificates.issue('localhost', { issuer: authority });
  const client = certificates.issue('relay.example', { issuer: authority });
  const seen: { path: string; name: string }[] = [];
  const server: Server = createServer(
    {
      cert: served.certificate,
      key: served.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      seen.push({ path: request.url ?? '', name: subject?.CN?.toString() ?? 'none' });
      request.resume().on('end', () => response.end());
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const ca = authority.certificate;
  const project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: `${url}/ours`, tls: { ca, client } });
  await seedEndpoint(world, project.id, { url: `${url}/others`, tls: { ca } });
  for (let i = 1; i <= 3; i += 1) {
    await postWebhook(receiver.url, project, { webhookId: `tls-${i}` });
    await waitFor('both', () => seen.length === 2 * i);
  }
  for (const { path, name } of seen) expect(name).toBe(path === '/ours' ? 'relay.example' : 'none');
  server.closeAllConnections();
  server.close();
  certificates.remove();
});
