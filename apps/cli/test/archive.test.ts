import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CliWorld, createCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

let world: CliWorld;
let endpoint: RecordingEndpoint;
let receiver: AppProcess;
let worker: AppProcess;
let projectId: string;
let endpointId: string;

beforeAll(async () => {
  world = await createCliWorld();
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

beforeEach(async () => {
  projectId = await world.createProject();
  ({ endpointId } = await world.addEndpoint(projectId, endpoint.url));
});

const run = async (...argv: string[]) => jsonOf(await world.run(...argv, '--json')) as never;
const send = () => {
  const port = new URL(receiver.url).port;
  return world.runWith({ RECEIVER_PORT: port }, ['send', '--project', projectId, '--json']);
};
const idsOf = async (...argv: string[]) => ((await run(...argv)) as { id: string }[]).map(({ id }) => id);

type Story = { webhook: { endpointIds: string[] }; deliveries: { state: string }[] };
const waitForStory = (id: string, isIt: (story: Story) => boolean) =>
  waitFor('the story of the webhook', async () => {
    const outcome = await world.run('webhook', 'show', id, '--json');
    return outcome.exitCode === 0 && isIt(jsonOf(outcome) as Story) && (jsonOf(outcome) as Story);
  });

describe('an archived endpoint', () => {
  it('is disabled and hidden, is owed nothing, and keeps what is held in the books', async () => {
    await run('endpoint', 'pause', endpointId);
    const held = (jsonOf(await send()) as { id: string }).id;
    await waitForStory(held, ({ deliveries }) => deliveries[0]?.state === 'held');
    await run('endpoint', 'archive', endpointId);

    expect(await idsOf('endpoint', 'list', '--project', projectId)).toEqual([]);
    expect(await run('endpoint', 'list', '--project', projectId, '--all')).toMatchObject([
      { id: endpointId, enabled: false, archivedAt: expect.stringMatching(/Z$/) },
    ]);
    const after = (jsonOf(await send()) as { id: string }).id;
    expect((await waitForStory(after, () => true)).webhook.endpointIds).toEqual([]);
    expect(await run('webhook', 'show', held)).toMatchObject({ deliveries: [{ state: 'held' }] });
  });

  it('cannot be changed any more', async () => {
    await run('endpoint', 'archive', endpointId);
    for (const argv of [
      ['endpoint', 'enable', endpointId],
      ['endpoint', 'resume', endpointId],
      ['endpoint', 'update', endpointId, '--events', 'a'],
      ['endpoint', 'rotate-secret', endpointId],
      ['endpoint', 'archive', endpointId],
    ]) {
      const outcome = await world.run(...argv);
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
      expect(outcome.stderr).toContain(`the endpoint ${endpointId} is archived`);
    }
  });
});

describe('an archived project', () => {
  it('answers 401 with the same body as an unknown one, and nothing is sent to its endpoints any more', async () => {
    await run('endpoint', 'pause', endpointId);
    const held = (jsonOf(await send()) as { id: string }).id;
    await waitForStory(held, ({ deliveries }) => deliveries[0]?.state === 'held');
    await run('project', 'archive', projectId);
    const refused = await send();
    expect(jsonOf(refused, 1)).toMatchObject({ statusCode: 401 });

    const answerOf = async (id: string) => {
      const response = await fetch(`${receiver.url}/v1/webhooks/${id}`, {
        method: 'POST',
        headers: { 'x-hub-signature-256': `sha256=${'ab'.repeat(32)}` },
        body: '{}',
      });
      return { status: response.status, text: await response.text() };
    };
    expect(await answerOf(projectId)).toEqual(await answerOf('01890a5d-ac96-774b-bcce-b302099a8057'));
    expect(await run('webhook', 'show', held)).toMatchObject({ deliveries: [{ state: 'held' }] });
  });

  it('is hidden with its endpoints, and cannot be changed any more', async () => {
    await run('project', 'archive', projectId);
    expect(await idsOf('project', 'list')).not.toContain(projectId);
    expect(await idsOf('project', 'list', '--all')).toContain(projectId);
    expect(await idsOf('endpoint', 'list', '--project', projectId)).toEqual([]);
    expect(await idsOf('endpoint', 'list', '--project', projectId, '--all')).toEqual([endpointId]);
    for (const argv of [
      ['project', 'enable', projectId],
      ['project', 'update', projectId, '--name', 'B'],
      ['project', 'archive', projectId],
      ['secret', 'rotate', '--project', projectId],
      ['endpoint', 'add', '--project', projectId, '--url', 'https://b.example/'],
    ]) {
      const outcome = await world.run(...argv);
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
      expect(outcome.stderr).toContain(`the project ${projectId} is archived`);
    }
    const enabled = await world.run('endpoint', 'enable', endpointId);
    expect(enabled.stderr).toContain(`the endpoint ${endpointId} is archived`);
  });
});
