import { decodeMessage } from '@hqrelay/queue/messages';
import type { RunningServer } from '@hqrelay/services/running-server';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld({ own: ['rabbitmq', 'postgres'], durable: true });
const broker = world.servers.rabbitmq as RunningServer;
const postgres = world.servers.postgres as RunningServer;
const endpoint = await openEndpoint();
const [receiver, worker] = await Promise.all([openApp('receiver', world.env), openApp('worker', world.env)]);
let project: SeededProject;

beforeEach(async () => {
  for (const app of [receiver, worker]) {
    await waitFor('all stores to be up', async () => {
      const response = await fetch(`${app.url}/health/ready`);
      return ((await response.json()) as { status: string }).status === 'ready';
    });
  }
  project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: `${endpoint.url}?${project.id}`, retry: '1s,1s,1s' });
  await postInTime('before');
});

describe('an outage of the broker', () => {
  it.each([
    ['stopped', () => broker.kill(), () => broker.start(), 'once'],
    // The broker also stores the messages that it received while it was frozen, so the outbox publishes duplicates.
    ['frozen', async () => broker.freeze(), async () => broker.thaw(), 'at least once'],
  ] as const)(
    'webhooks are accepted in time through the outbox while the broker is %s, and delivered later',
    async (_name, stop, restart, howOften) => {
      await stop();
      const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => accept(`at once ${i}`)));
      for (let i = 0; i < 20; i += 1) ids.push(await accept(`later ${i}`));
      const again = await postInTime('later 0');
      expect(again.body.id).toBe(ids[10]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await countOf('queued')).toBe(31);
      const { rows } = await world.sql.query<{ message: Buffer }>(
        'select message from outbox where id = any($1)',
        [ids],
      );
      expect(rows).toHaveLength(30);
      // Marked as a possible duplicate, so that the worker asks Postgres before it posts.
      for (const { message } of rows) {
        expect(decodeMessage(message)).toMatchObject({
          message: { envelope: { mayBeDuplicate: 'done_if_recorded' } },
        });
      }

      await restart();
      await expectEachDelivered(31, howOften);
      // The worker deletes a row after its message is confirmed, and that message may be delivered before.
      await waitFor('an empty outbox', async () => {
        return (await world.sql.query('select from outbox')).rows.length === 0;
      });
      await waitFor('a webhook to go directly to the broker again', async () => {
        const before = await confirms();
        await accept(`direct ${before} ${performance.now()}`);
        return (await confirms()) > before;
      });
    },
  );
});

describe('an outage of Postgres', () => {
  it.each([
    ['stopped', () => postgres.stop(), () => postgres.start()],
    ['frozen', async () => postgres.freeze(), async () => postgres.thaw()],
  ])(
    'webhooks are accepted in time and delivered while Postgres is %s, and have all their rows later',
    async (_name, stop, restart) => {
      await stop();
      const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => accept(`at once ${i}`)));
      for (let i = 0; i < 10; i += 1) ids.push(await accept(`later ${i}`));
      expect((await postInTime('later 0')).headers.get('idempotent-replayed')).toBe('true');
      await waitFor('deliveries', () => ids.every((id) => requestsOf(project).includes(id)));
      await restart();
      await expectEachDelivered(21, 'once');
      await waitFor('the duplicate’s row', async () => (await countOf('duplicate')) === 1);
    },
  );
});

describe('an outage of RabbitMQ and Postgres', () => {
  it('a webhook that neither RabbitMQ nor Postgres takes is answered 503 in time, and its retry keeps its id', async () => {
    await Promise.all([broker.kill(), postgres.stop()]);
    for (const webhookId of ['evt_1', 'evt_1', 'evt_2']) {
      const refused = await postInTime(webhookId);
      expect(refused.statusCode).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.body.error?.code).toBe('webhook.not_queued');
    }
    await Promise.all([broker.start(), postgres.start()]);
    const accepted = await waitFor('the retry to be accepted', async () => {
      const answer = await postInTime('evt_1');
      return answer.statusCode === 202 && answer;
    });
    const { rows } = await waitFor('the background rows', async () => {
      const found = await world.sql.query<{ duplicate_of: string }>(
        `select distinct duplicate_of from webhook_logs
         where project_id = $1 and webhook_id = 'evt_1' and status = 'failed_to_queue'`,
        [project.id],
      );
      return found.rows.length > 0 && found;
    });
    expect(rows).toEqual([{ duplicate_of: accepted.body.id }]);
    await expectEachDelivered(2, 'once');
  });

  it('a webhook of a project that no store can look up is answered 503, not 4xx', async () => {
    const unheardOf = await seedProject(world);
    await Promise.all([broker.kill(), postgres.stop()]);
    await waitFor(
      'the receiver to report that it is not ready',
      async () => (await fetch(`${receiver.url}/health/ready`)).status === 503,
    );
    const answer = await postWebhook(receiver.url, unheardOf, { webhookId: 'evt_1' });
    expect(answer.statusCode).toBe(503);
    expect(answer.body.error?.code).toBe('project.unavailable');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    await Promise.all([broker.start(), postgres.start()]);
    await waitFor(
      'it to be accepted',
      async () => (await postWebhook(receiver.url, unheardOf, { webhookId: 'evt_1' })).statusCode === 202,
    );
  });
});

/** No answer takes longer than 2.5 s: senders give up after 3 s. */
async function postInTime(webhookId: string) {
  const body = `{"of":"${webhookId}"}`;
  const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
    postWebhook(receiver.url, project, { webhookId, body }),
  );
  expect(undisturbedMs).toBeLessThan(2_500);
  return answer;
}

async function accept(webhookId: string): Promise<string> {
  const answer = await postInTime(webhookId);
  expect(answer.text).toMatch(/"queued"/);
  expect(answer.statusCode).toBe(202);
  expect(answer.headers.get('idempotent-replayed')).toBeNull();
  return answer.body.id as string;
}

function requestsOf({ id }: SeededProject): string[] {
  const requests = endpoint.requests.filter((each) => each.path.endsWith(id));
  return requests.map((each) => String(each.headers['webhook-id']));
}

async function countOf(status: string): Promise<number> {
  const { rows } = await world.sql.query(
    'select from webhook_logs where project_id = $1 and status::text = $2',
    [project.id, status],
  );
  return rows.length;
}

/** Every accepted webhook has one row and has arrived. */
async function expectEachDelivered(count: number, guarantee: 'once' | 'at least once'): Promise<void> {
  const { rows } = await waitFor('every webhook to be delivered and recorded', async () => {
    const owed = await world.sql.query<{ id: string; state: string; attempts: number }>(
      'select webhook_log_id as id, state, attempts::int from delivery_status where project_id = $1',
      [project.id],
    );
    return owed.rows.length >= count && owed.rows.every((row) => row.state === 'delivered') && owed;
  });
  expect(await countOf('queued')).toBe(count);
  const requests = requestsOf(project);
  expect(new Set(requests)).toEqual(new Set(rows.map((row) => row.id)));
  if (guarantee === 'at least once') return;
  expect(requests).toHaveLength(count);
  expect(rows.filter((row) => row.attempts !== 1)).toEqual([]);
}

/** The number of webhooks that the broker has confirmed to the receiver. */
async function confirms(): Promise<number> {
  const metrics = await (await fetch(`${receiver.url}/metrics`)).text();
  return Number(/^hqrelay_publish_confirm_seconds_count (\d+)$/m.exec(metrics)?.[1]);
}
