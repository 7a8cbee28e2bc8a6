import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drainedMessages } from './drained-messages.ts';
import { openApp, openWorld } from './open-world.ts';

const world = await openWorld();
const receiver = await openApp('receiver', world.env);
await receiver.waitUntilReady();
let worker: AppProcess;
let endpoint: RecordingEndpoint;
let project: SeededProject;

beforeEach(async () => {
  endpoint = await startRecordingEndpoint();
  project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s,1s' });
  worker = await startApp('worker', { env: world.env });
  await worker.waitUntilReady();
});

afterEach(async () => {
  await worker.end();
  await endpoint.close();
});

let webhooks = 0;

async function receive(count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      postWebhook(receiver.url, project, { webhookId: `evt-${(webhooks += 1)}-${index}` }),
    ),
  );
  expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 202));
  return answers.map((answer) => answer.body.id as string);
}

async function attemptsOf(
  ids: readonly string[],
): Promise<{ webhook_log_id: string; attempt_num: number; status: string }[]> {
  const { rows } = await world.sql.query<{ webhook_log_id: string; attempt_num: number; status: string }>(
    'select webhook_log_id, attempt_num, status from delivery_attempts where webhook_log_id = any($1) order by attempt_num',
    [ids],
  );
  return rows;
}

function waitUntilDelivered(ids: readonly string[]): Promise<unknown> {
  return waitFor(`${ids.length} deliveries`, async () => {
    const attempts = await attemptsOf(ids);
    return (
      new Set(attempts.filter((each) => each.status === 'delivered').map((each) => each.webhook_log_id))
        .size === ids.length
    );
  });
}

async function startAnotherWorker(): Promise<void> {
  worker = await startApp('worker', { env: world.env });
  await worker.waitUntilReady();
}

describe('a worker that is killed', () => {
  it('an attempt whose worker is killed before it is recorded is made again by the next worker', async () => {
    endpoint.answerWith((_request, count) => (count === 1 ? { instead: 'hang' } : {}));
    const ids = await receive(1);
    await endpoint.waitForRequests(1);
    await worker.end('SIGKILL');
    expect(await attemptsOf(ids)).toEqual([]);

    await startAnotherWorker();
    await waitUntilDelivered(ids);

    expect(endpoint.requests.map((request) => request.headers['x-hqrelay-attempt'])).toEqual(['1', '1']);
    expect(new Set(endpoint.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set(ids));
    expect(await attemptsOf(ids)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
  });

  it('workers that are killed amid many deliveries lose none, and each attempt is one row', async () => {
    endpoint.answerWith((_request, count) => ({ statusCode: count % 5 === 0 ? 500 : 200, delayMs: 20 }));
    const ids = await receive(150);
    for (const requests of [20, 60]) {
      await endpoint.waitForRequests(requests);
      await worker.end('SIGKILL');
      await startAnotherWorker();
    }
    await waitFor('every delivery to be delivered or dead-lettered', async () => {
      const { rows } = await world.sql.query<{ ended: number }>(
        `select count(*)::int as ended from delivery_status where webhook_log_id = any($1) and state in ('delivered', 'dead_lettered')`,
        [ids],
      );
      return rows[0]?.ended === ids.length;
    });
    const attempts = await attemptsOf(ids);
    const keys = attempts.map((attempt) => `${attempt.webhook_log_id} ${attempt.attempt_num}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(attempts.map((attempt) => attempt.webhook_log_id))).toEqual(new Set(ids));
  });
});

describe('a worker that gets SIGTERM', () => {
  it('a worker that gets SIGTERM finishes and records its deliveries in flight, and exits with 0', async () => {
    endpoint.answerWith({ delayMs: 1_500 });
    const ids = await receive(5);
    await endpoint.waitForRequests(5);

    expect(await worker.end('SIGTERM')).toBe(0);

    await startAnotherWorker();
    const [after] = await receive(1);
    // While Postgres is late the rows wait in the broker for the next worker.
    await waitUntilDelivered([...ids, after!]);
    expect(await attemptsOf(ids)).toMatchObject(ids.map(() => ({ attempt_num: 1, status: 'delivered' })));
    // A delivery without a record would be posted again.
    expect(endpoint.requests).toHaveLength(6);
  });

  it('a worker that gets SIGTERM under load requeues the rest for another worker, and no webhook arrives twice', async () => {
    endpoint.answerWith({ delayMs: 30 });
    const ids = await receive(200);
    await endpoint.waitForRequests(40);
    expect(await worker.end('SIGTERM')).toBe(0);
    const first = worker;
    await startAnotherWorker();
    await waitUntilDelivered(ids);
    expect(new Set(endpoint.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids));
    await waitFor(
      'as few requests as webhooks',
      () => endpoint.requests.length - ids.length <= drainedMessages(first, worker),
    );
  });
});
