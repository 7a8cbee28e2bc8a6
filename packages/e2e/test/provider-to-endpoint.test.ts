import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

describe('a webhook from the provider to the endpoint', () => {
  let world: World;
  let receiver: AppProcess;
  let worker: AppProcess;
  let endpoint: RecordingEndpoint;

  beforeAll(async () => {
    world = await createWorld(inject('run'));
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

  it('a webhook arrives at its endpoint byte for byte, signed, and has its rows', async () => {
    const project = await seedProject(world);
    const { signingSecret } = await seedEndpoint(world, project.id, { url: endpoint.url });
    const body = Buffer.from('{"event":"payment.captured",  "amount": 1.00, "note":"\u20b9 caf\u00e9"}\n');

    const answer = await postWebhook(receiver.url, project, {
      body,
      webhookId: 'evt_1',
      headers: {
        'content-type': 'application/octet-stream',
        'x-correlation-id': 'order-77',
        authorization: 'Bearer secret',
      },
    });

    expect(answer.statusCode).toBe(202);
    expect(answer.body).toEqual({ id: expect.any(String), status: 'queued' });
    expect(answer.headers.get('x-correlation-id')).toBe('order-77');
    const [request] = await endpoint.waitForRequests(1);
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.headers).toMatchObject({
      'webhook-id': answer.body.id,
      'x-hqrelay-attempt': '1',
      'x-correlation-id': 'order-77',
      'x-webhook-id': 'evt_1',
    });
    expect(request?.headers.authorization).toBeUndefined();
    new Webhook(signingSecret).verify(body, request?.headers as Record<string, string>);

    const [attempt] = await waitFor('the attempt', async () => {
      const { rows } = await world.sql.query('select * from delivery_attempts where webhook_log_id = $1', [
        answer.body.id,
      ]);
      return rows.length === 1 && rows;
    });
    expect(attempt).toMatchObject({
      attempt_num: 1,
      status: 'delivered',
      status_code: 200,
      lane: 'live',
      correlation_id: 'order-77',
    });
    const { rows } = await world.sql.query(
      'select state, attempts from delivery_status where webhook_log_id = $1',
      [answer.body.id],
    );
    expect(rows).toEqual([{ state: 'delivered', attempts: 1 }]);
    const payload = await world.sql.query('select payload, headers from webhook_payloads where id = $1', [
      answer.body.id,
    ]);
    expect(payload.rows[0].payload.equals(body)).toBe(true);
    expect(JSON.stringify(payload.rows[0].headers)).not.toContain('Bearer');
  });
});
