import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freshId } from '@hqrelay/testing/fresh-id';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import type { Received } from '../report.ts';
import { BodyReader } from './read-body.ts';
import { receive } from './receive.ts';

it('a request on which the relay fails is answered 503, counted and logged', async () => {
  const reported: Received[] = [];
  const errors: string[] = [];
  const app = express();
  const deps = {
    bodies: new BodyReader({
      bodyBytesMax: 1_024,
      unverifiedBytesMax: 1 << 20,
      incompleteBytesPerAddressMax: 1 << 20,
      slowAfterMs: 10_000,
      deadlineMs: 60_000,
    }),
    publicUrl: 'http://relay.example',
    ingest: () => Promise.reject(new Error('a bug')),
    recordTooLarge: () => true,
    mayLogRefusal: () => false,
    report: (received: Received) => void reported.push(received),
    logger: { error: (_fields: object, event: string) => void errors.push(event) },
  };
  const handle = receive(deps as never);
  app.post('/v1/webhooks/:projectId', (request, response) =>
    handle(request, response, request.params.projectId),
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks/${freshId()}`, {
    method: 'POST',
    body: '{}',
  });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-4]$/);
  expect(await answer.json()).toMatchObject({ error: { code: 'receiver.failed' } });
  expect(reported).toMatchObject([{ outcome: 'failed_to_queue', statusCode: 503, isLogged: true }]);
  expect(errors).toEqual(['receiver.failed']);
});
