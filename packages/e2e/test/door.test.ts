import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { signAsProvider } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDoor, type Door, type DoorRequest } from './door-world.ts';

describe('two receivers behind nginx', () => {
  let world: World;
  let project: SeededProject;
  let receivers: AppProcess[];
  let door: Door;

  beforeAll(async () => {
    world = await createWorld(inject('run'));
    project = await seedProject(world);
    const env = { ...world.env, TRUST_PROXY: '127.0.0.1' };
    receivers = await Promise.all([startApp('receiver', { env }), startApp('receiver', { env })]);
    await Promise.all(receivers.map((each) => each.waitUntilReady()));
    door = await openDoor(
      inject('run').folder,
      receivers.map(({ port }) => port),
    );
  });

  afterAll(async () => {
    await door.close();
    await Promise.all(receivers.filter((each) => each.isRunning()).map((each) => each.end('SIGKILL')));
    await world.close();
  });

  function webhook(webhookId: string): DoorRequest {
    const body = Buffer.from(JSON.stringify({ event: 'payment.captured', webhookId }));
    const headers = { ...signAsProvider(project, body), 'x-webhook-id': webhookId };
    return { path: `/v1/webhooks/${project.id}`, headers, body };
  }

  /** Twenty senders, each with the next webhook when its last one is answered, until `stop`. */
  function startLoad(prefix: string) {
    const answers: { webhookId: string; statusCode: number }[] = [];
    const failures: string[] = [];
    let isOver = false;
    let count = 0;
    const sender = async () => {
      while (!isOver) {
        const webhookId = `${prefix}_${(count += 1)}`;
        await door.send(webhook(webhookId)).then(
          ({ statusCode }) => answers.push({ webhookId, statusCode }),
          (error: unknown) => failures.push(String(error)),
        );
      }
    };
    const senders = Promise.all(Array.from({ length: 20 }, sender));
    const stop = async () => {
      isOver = true;
      await senders;
    };
    return { answers, failures, stop };
  }

  it('a webhook through nginx is accepted, and its row has the address of the provider', async () => {
    const { headers = {}, ...rest } = webhook('evt_address');
    const spoofed = { ...headers, 'X-Forwarded-For': '203.0.113.9' };
    const answer = await door.send({ ...rest, headers: spoofed, from: '127.0.0.5' });
    expect(answer.statusCode).toBe(202);
    const [row] = await waitFor('the row', async () => {
      const { rows } = await world.sql.query(
        'select remote_addr, status from webhook_logs where webhook_id = $1',
        ['evt_address'],
      );
      return rows.length > 0 && rows;
    });
    expect(row).toEqual({ remote_addr: '127.0.0.5', status: 'queued' });
  });

  it('nginx relays /health of a receiver, and neither its metrics nor its readiness', async () => {
    const get = (path: string) => door.send({ method: 'GET', path });
    expect(await get('/health')).toMatchObject({ statusCode: 200, text: '{"status":"ok"}' });
    for (const path of ['/metrics', '/health/ready']) {
      const answer = await get(path);
      expect(answer.statusCode).toBe(404);
      expect(answer.text).not.toContain('postgres');
    }
  });

  it('each receiver in turn gets SIGTERM and starts again under load, and every request is answered 202', async () => {
    const load = startLoad('evt_restart');
    for (const receiver of receivers) {
      const before = load.answers.length;
      await waitFor('some answers', () => load.answers.length > before + 100);
      expect(await receiver.end('SIGTERM')).toBe(0);
      receiver.start();
      await receiver.waitUntilReady();
    }
    const before = load.answers.length;
    await waitFor('some more answers', () => load.answers.length > before + 100);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.answers.filter(({ statusCode }) => statusCode !== 202)).toEqual([]);
    const ids = load.answers.map(({ webhookId }) => webhookId);
    const queued = async () => {
      const { rows } = await world.sql.query<{ count: number }>(
        `select count(*)::int as count from webhook_logs where status = 'queued' and webhook_id = any($1)`,
        [ids],
      );
      return rows[0]?.count;
    };
    await waitFor('every row', async () => (await queued()) === ids.length);
  });

  it('a receiver that is killed under load makes no request fail and no webhook queued twice', async () => {
    const [first] = receivers;
    const load = startLoad('evt_kill');
    await waitFor('some answers', () => load.answers.length > 100);
    await first?.end('SIGKILL');
    const before = load.answers.length;
    await waitFor('some more answers', () => load.answers.length > before + 100);
    await load.stop();
    first?.start();
    await first?.waitUntilReady();
    expect(load.failures).toEqual([]);
    // A webhook that the killed receiver had reserved waits for its outcome, and is then for the provider to send again.
    const refused = load.answers.filter(({ statusCode }) => statusCode !== 202);
    expect(refused.filter(({ statusCode }) => statusCode !== 503)).toEqual([]);
    for (const { webhookId } of refused) {
      await waitFor(`${webhookId} to be accepted`, async () => {
        return (await door.send(webhook(webhookId))).statusCode === 202;
      });
    }
    const ids = load.answers.map(({ webhookId }) => webhookId);
    await waitFor('one queued row for each webhook', async () => {
      const { rows } = await world.sql.query<{ rows: number; webhooks: number }>(
        `select count(*)::int as rows, count(distinct webhook_id)::int as webhooks
         from webhook_logs where status = 'queued' and webhook_id = any($1)`,
        [ids],
      );
      return rows[0]?.webhooks === ids.length && rows[0].rows === ids.length;
    });
  });

  it('with no receiver running a webhook is refused with 503, Retry-After and the form of the receivers’ answers', async () => {
    await Promise.all(receivers.map((each) => each.end('SIGTERM')));
    const answer = await door.send(webhook('evt_alone'));
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.headers['x-correlation-id']).toMatch(/^\w+$/);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'receiver.unavailable' } });
  });
});
