import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freshId } from '@hqrelay/testing/fresh-id';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import type { Received } from '../report.ts';
import { BodyReader } from './body/read-body.ts';
import { receive } from './receive.ts';

const limits = { bodyBytesMax: 1 << 20, heldBytesMax: 1 << 30, slowAfterMs: 10_000, deadlineMs: 60_000 };
const never = new Promise<never>(() => {});

/** A server whose webhooks go to `ingest`. */
async function serve({ ingest, bodies }: { ingest: () => Promise<never>; bodies: BodyReader }) {
  const reported: Received[] = [];
  const errors: string[] = [];
  const deps = {
    bodies,
    publicUrl: 'http://relay.example',
    ingest,
    recordTooLarge: () => true,
    mayLogRefusal: () => false,
    report: (received: Received) => void reported.push(received),
    logger: { error: (_fields: object, event: string) => void errors.push(event) },
  };
  const handle = receive(deps as never);
  const app = express();
  app.post('/v1/webhooks/:projectId', (request, response) =>
    handle(request, response, request.params.projectId),
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/webhooks/${freshId()}`;
  const post = (body: string) => fetch(url, { method: 'POST', body });
  return { post, reported, errors };
}

it('a request on which the relay fails is answered 503, counted and logged', async () => {
  const { post, reported, errors } = await serve({
    ingest: () => Promise.reject(new Error('a bug')),
    bodies: new BodyReader({ ...limits, largeBytesMax: 1 << 20, roomWithinMs: 50 }),
  });
  const answer = await post('{}');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-4]$/);
  expect(await answer.json()).toMatchObject({ error: { code: 'receiver.failed' } });
  expect(reported).toMatchObject([{ outcome: 'failed_to_queue', statusCode: 503, isLogged: true }]);
  expect(errors).toEqual(['receiver.failed']);
});

it('a large body that finds no room is answered 503 on a connection that stays open', async () => {
  const { post, reported } = await serve({
    ingest: () => never,
    bodies: new BodyReader({ ...limits, largeBytesMax: 0, roomWithinMs: 10 }),
  });
  const answer = await post('a'.repeat(1 << 20));
  expect(answer.status).toBe(503);
  expect(answer.headers.get('connection')).toBe('keep-alive');
  expect(await answer.json()).toMatchObject({ error: { code: 'receiver.overloaded' } });
  expect(reported).toMatchObject([{ outcome: 'failed_to_queue', statusCode: 503 }]);
});

it('the time that a body waited for room counts for the time of its answer', async () => {
  let ingestingSince = 0;
  const bodies = new BodyReader({ ...limits, largeBytesMax: 2 << 20, roomWithinMs: 10_000 });
  const { post } = await serve({
    ingest: () => {
      ingestingSince ||= performance.now();
      return never;
    },
    bodies,
  });
  const large = 'a'.repeat(1 << 20);
  const held = [post(large), post(large)];
  await Promise.all(held);
  const waiting = post(large);
  setTimeout(() => bodies.release(large.length), 2_200);
  ingestingSince = 0;
  expect((await waiting).status).toBe(503);
  expect(performance.now() - ingestingSince).toBeLessThan(1_500);
});
