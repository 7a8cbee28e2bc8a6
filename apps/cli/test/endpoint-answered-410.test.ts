import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeEach, expect, it } from 'vitest';
import { isInState, openAppsWorld } from './apps-world.ts';

const world = await openAppsWorld();
let projectId: string;
let endpointId: string;
let answered410: string;

const send = () => world.send(projectId);
const waitForState = (id: string, state: string) => world.waitForWebhook(id, isInState(state));

beforeEach(async () => {
  ({ projectId, endpointId } = await world.createProjectWithEndpoint());
  world.endpoint.answerWith({ statusCode: 410 });
  answered410 = await send();
  await waitForState(answered410, 'held');
  await waitFor('the relay to disable the endpoint', () =>
    world.worker.logs.some(
      (line) => line['msg'] === 'endpoint.disabled' && line['endpointId'] === endpointId,
    ),
  );
});

it('an endpoint that a 410 disabled is owed later webhooks, and receives them when a person enables it', async () => {
  const listed: { disabledBy: string }[] = await world.runJson('endpoint', 'list', '--project', projectId);
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
  expect((await world.waitForWebhook(after)).webhook.endpointIds).toEqual([endpointId]);

  world.endpoint.answerWith({ statusCode: 200 });
  await world.runJson('endpoint', 'enable', endpointId);
  for (const id of [answered410, after]) await waitForState(id, 'delivered');
  const last = await send();
  await waitForState(last, 'delivered');
});

it('an endpoint that a person disables after a 410 is owed no new webhook and keeps its held deliveries', async () => {
  const before = await send();
  await waitForState(before, 'held');
  await world.runJson('endpoint', 'disable', endpointId);
  const after = await send();
  const shown = await world.waitForWebhook(after);
  expect(shown).toMatchObject({ webhook: { endpointIds: [] }, deliveries: [] });
  for (const id of [answered410, before])
    expect((await world.waitForWebhook(id)).deliveries).toMatchObject([{ state: 'held' }]);

  world.endpoint.answerWith({ statusCode: 200 });
  await world.runJson('endpoint', 'enable', endpointId);
  for (const id of [answered410, before]) await waitForState(id, 'delivered');
});
