import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type CliWorld, createCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

let world: CliWorld;
let endpoint: RecordingEndpoint;
let receiver: AppProcess;
let worker: AppProcess;

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

let projectId: string;
let endpointId: string;
let gone: string;

const run = async (...argv: string[]) => jsonOf(await world.run(...argv, '--json')) as never;

/** Sends a webhook and returns its id. */
async function send(): Promise<string> {
  const port = new URL(receiver.url).port;
  const argv = ['send', '--project', projectId, '--json'];
  return (jsonOf(await world.runWith({ RECEIVER_PORT: port }, argv)) as { id: string }).id;
}

type Story = {
  webhook: { endpointIds: string[] };
  deliveries: { state: string; heldReason: string | null }[];
};
const storyOf = (id: string): Promise<Story> => run('webhook', 'show', id);
const waitForState = (id: string, state: string) =>
  waitFor(`the delivery to be ${state}`, async () => {
    const outcome = await world.run('webhook', 'show', id, '--json');
    if (outcome.exitCode !== 0) return undefined;
    const story = jsonOf(outcome) as Story;
    return story.deliveries[0]?.state === state && story;
  });

beforeEach(async () => {
  projectId = await world.createProject();
  ({ endpointId } = await world.addEndpoint(projectId, endpoint.url));
  endpoint.answerWith({ statusCode: 410 });
  gone = await send();
  await waitForState(gone, 'held');
  await waitFor('the relay to disable the endpoint', () =>
    worker.logs.some((line) => line['msg'] === 'endpoint.disabled' && line['endpointId'] === endpointId),
  );
});

it('an endpoint that a 410 disabled is still owed what comes after, and gets all of it when a person enables it', async () => {
  const listed: { disabledBy: string }[] = await run('endpoint', 'list', '--project', projectId);
  expect(listed).toMatchObject([{ enabled: false, disabledBy: 'relay' }]);
  const { rows } = await world.sql.query('select * from admin_log where target = $1 and actor = $2', [
    endpointId,
    'relay',
  ]);
  expect(rows).toMatchObject([
    { action: 'endpoint.disable', project_id: projectId, details: { after: { disabledBy: 'relay' } } },
  ]);
  const after = await send();
  expect((await waitForState(after, 'held')).deliveries).toMatchObject([{ heldReason: 'disabled' }]);
  expect((await storyOf(after)).webhook.endpointIds).toEqual([endpointId]);

  endpoint.answerWith({ statusCode: 200 });
  await run('endpoint', 'enable', endpointId);
  for (const id of [gone, after]) await waitForState(id, 'delivered');
  const last = await send();
  await waitForState(last, 'delivered');
});

it('an endpoint that a 410 disabled and a person then disables is owed nothing from then on, and keeps what is held', async () => {
  const before = await send();
  await waitForState(before, 'held');
  await run('endpoint', 'disable', endpointId);
  const after = await send();
  const story = await waitFor('the row of the webhook', async () => {
    const outcome = await world.run('webhook', 'show', after, '--json');
    return outcome.exitCode === 0 && (jsonOf(outcome) as Story);
  });
  expect(story).toMatchObject({ webhook: { endpointIds: [] }, deliveries: [] });
  for (const id of [gone, before]) expect((await storyOf(id)).deliveries).toMatchObject([{ state: 'held' }]);

  endpoint.answerWith({ statusCode: 200 });
  await run('endpoint', 'enable', endpointId);
  for (const id of [gone, before]) await waitForState(id, 'delivered');
});
