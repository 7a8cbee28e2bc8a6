import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld();
const endpoint = await openEndpoint();
const apps = await Promise.all([openApp('receiver', world.env), openApp('worker', world.env)]);
await Promise.all(apps.map((app) => app.waitUntilReady()));
const [receiver] = apps;

describe('a webhook from the provider to the endpoint', () => {
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
