import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook, type ProviderAnswer } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { drainedMessages } from './drained-messages.ts';

describe('fifty requests at once', () => {
  let world: World;
  let receivers: AppProcess[];
  let worker: AppProcess;
  let endpoint: RecordingEndpoint;

  beforeAll(async () => {
    world = await createWorld(inject('run'));
    endpoint = await startRecordingEndpoint();
    const [one, other, started] = await Promise.all([
      startApp('receiver', { env: world.env }),
      startApp('receiver', { env: world.env }),
      startApp('worker', { env: world.env }),
    ]);
    receivers = [one, other];
    worker = started;
    await Promise.all([one, other, started].map((app) => app.waitUntilReady()));
  });

  afterAll(async () => {
    await Promise.all([...receivers, worker].map((app) => app.end()));
    await endpoint.close();
    await world.close();
  });

  it.each([
    ['one receiver', 1],
    ['two receivers', 2],
  ])('fifty requests at once to %s are one queued row, 49 duplicates, one delivery', async (_name, count) => {
    const { project, answers } = await fifty({}, (to, index) =>
      postWebhook(receivers[index % count]!.url, to, { webhookId: 'evt_1' }),
    );

    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const rows = await rowsOf(project, 50);
    const id = answers[0]?.body.id;
    expect(rows.filter((row) => row.status === 'queued')).toMatchObject([{ id, duplicate_of: null }]);
    const duplicates = rows.filter((row) => row.status === 'duplicate');
    expect(duplicates).toHaveLength(49);
    expect(new Set(duplicates.map((row) => row.duplicate_of))).toEqual(new Set([id]));
    await expectOneDelivery(project);
  });

  it('fifty requests at once with the same body and no id are one webhook', async () => {
    const { project, answers } = await fifty({}, (to, index) => postWebhook(receivers[index % 2]!.url, to));
    expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.text}`)).size).toBe(1);
    await rowsOf(project, 50);
    await expectOneDelivery(project);
  });

  it('fifty ids at once with one body are one webhook in a project with same_body duplicate', async () => {
    const { project, answers } = await fifty({ sameBody: 'duplicate' }, (to, index) =>
      postWebhook(receivers[index % 2]!.url, to, { webhookId: `evt_${index}` }),
    );
    expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.text}`)).size).toBe(1);
    expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
    const rows = await rowsOf(project, 50);
    const id = answers[0]?.body.id;
    expect(rows.filter((row) => row.status === 'queued')).toMatchObject([{ id }]);
    expect(
      rows.filter((row) => row.status === 'duplicate').filter((row) => row.duplicate_of === id),
    ).toHaveLength(49);
    await expectOneDelivery(project);
  });

  it('fifty requests at once with one id, half of them with another body, are one webhook and conflicts', async () => {
    const { project, answers } = await fifty({}, (to, index) =>
      postWebhook(receivers[index % 2]!.url, to, {
        webhookId: 'evt_1',
        body: `{"amount":${index % 4 < 2 ? 1 : 2}}`,
      }),
    );
    const statusCodes = answers.map((answer) => answer.statusCode);
    expect(statusCodes.filter((code) => code === 202).length).toBeGreaterThan(23);
    expect(statusCodes.filter((code) => code === 409).length).toBeGreaterThan(23);
    expect(statusCodes).toHaveLength(50);
    const accepted = answers.filter((answer) => answer.statusCode === 202);
    expect(new Set(accepted.map((answer) => answer.body.id)).size).toBe(1);
    await rowsOf(project, 50);
    await expectOneDelivery(project);
  });

  /**
   * Fifty requests at once to a project of their own. Again with another project while one is answered 503: on a busy machine the
   * first request may take longer than its duplicates wait for its outcome.
   */
  function fifty(
    options: Parameters<typeof seedProject>[1],
    post: (to: SeededProject, index: number) => Promise<ProviderAnswer>,
  ) {
    return waitFor('fifty answers without a 503', async () => {
      const project = await seedProject(world, options);
      await seedEndpoint(world, project.id, { url: `${endpoint.url}?${project.id}` });
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => post(project, index)));
      return answers.every(({ statusCode }) => statusCode !== 503) && { project, answers };
    });
  }

  function rowsOf(project: SeededProject, count: number) {
    return waitFor(`${count} rows`, async () => {
      const { rows } = await world.sql.query<{ id: string; status: string; duplicate_of: string | null }>(
        'select * from webhook_logs where project_id = $1',
        [project.id],
      );
      return rows.length === count && rows;
    });
  }

  /** Once a later webhook has arrived, no message of an earlier one is in the queue. */
  async function expectOneDelivery(project: SeededProject) {
    const requestsOf = () => endpoint.requests.filter((request) => request.path.endsWith(project.id));
    await waitFor('a delivery', () => requestsOf().length > 0);
    const marker = await postWebhook(receivers[0]!.url, project, {
      webhookId: 'marker',
      body: '{"event":"marker"}',
    });
    await waitFor('the marker', () =>
      requestsOf().some((each) => each.headers['webhook-id'] === marker.body.id),
    );
    await waitFor('no request but these two', () => requestsOf().length - 2 <= drainedMessages(worker));
  }
});
