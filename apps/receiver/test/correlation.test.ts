import { randomUUID } from 'node:crypto';
import { signAsProvider } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld, type RawAnswer, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld({ BODY_BYTES_MAX: '1000' });

describe('the correlation id', () => {
  const projectId = randomUUID();
  const webhooks = `/v1/webhooks/${projectId}`;
  const requests: [name: string, statusCode: number, method: string, path: string, body?: Buffer][] = [
    ['a wrong signature', 401, 'POST', webhooks],
    ['a missing project id', 400, 'POST', '/v1/webhooks'],
    ['a URL that cannot be decoded', 400, 'POST', '/v1/webhooks/%E0%A4%A'],
    ['a body over the limit', 413, 'POST', webhooks, Buffer.alloc(2_000)],
    ['another method', 405, 'PUT', webhooks],
    ['an unknown path', 404, 'GET', '/v2'],
    ['a POST to an unknown path', 404, 'POST', '/', Buffer.from('{}')],
    ['health', 200, 'GET', '/health'],
    ['readiness', 200, 'GET', '/health/ready'],
    ['metrics', 200, 'GET', '/metrics'],
  ];

  it.each(requests)(
    'the answer to %s (%i) has a correlation id',
    async (_name, statusCode, method, path, body) => {
      const send = (headers: string[]) =>
        sendRaw(`${world.url}${path}`, { method, headers, ...(body && { body }) });
      const taken = await send(['X-Correlation-Id', 'order-77']);
      expect(taken.statusCode).toBe(statusCode);
      expect(taken.headers['x-correlation-id']).toBe('order-77');
      const [one, other] = await Promise.all([send([]), send(['X-Correlation-Id', 'not sane'])]);
      expect(one.headers['x-correlation-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(other.headers['x-correlation-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(other.headers['x-correlation-id']).not.toBe(one.headers['x-correlation-id']);
    },
  );

  it('the answer to a webhook has the correlation id of its row', async () => {
    const project = await seedProject(world);
    const body = Buffer.from('{"event":"payment.captured"}');
    const send = (webhookId: string, correlationId: string): Promise<RawAnswer> =>
      sendRaw(world.webhooksUrl(project.id), {
        headers: [
          ...Object.entries(signAsProvider(project, body)).flat(),
          'X-Webhook-Id',
          webhookId,
          'X-Correlation-Id',
          correlationId,
        ],
        body,
      });

    expect((await send('evt_1', 'order-77')).headers['x-correlation-id']).toBe('order-77');
    const long = (await send('evt_2', 'a'.repeat(129))).headers['x-correlation-id'];
    const replayed = await send('evt_1', 'order-78');
    expect(replayed.headers['x-correlation-id']).toBe('order-78');
    const queued = await world.logsOf(project.id, 'queued');
    expect(queued.map((row) => row.correlation_id)).toEqual(['order-77', long]);
    const [duplicate] = await world.waitForLogs(project.id, 'duplicate');
    expect(duplicate?.correlation_id).toBe('order-78');
  });

  it('the answer to another method names POST in its Allow header', async () => {
    const answer = await sendRaw(`${world.url}${webhooks}`, { method: 'DELETE' });
    expect(answer.headers.allow).toBe('POST');
  });
});
