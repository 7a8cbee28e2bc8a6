import { beforeEach, describe, expect, it } from 'vitest';
import { isInState, openAppsWorld } from './apps-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openAppsWorld();
let projectId: string;
let endpointId: string;

beforeEach(async () => {
  ({ projectId, endpointId } = await world.createProjectWithEndpoint());
});

const idsOf = async (...argv: string[]) =>
  ((await world.runJson(...argv)) as { id: string }[]).map(({ id }) => id);

describe('an archived endpoint', () => {
  it('an archived endpoint is disabled and hidden, is owed no new webhook and keeps its held deliveries', async () => {
    await world.runJson('endpoint', 'pause', endpointId);
    const held = await world.send(projectId);
    await world.waitForWebhook(held, isInState('held'));
    await world.runJson('endpoint', 'archive', endpointId);

    expect(await idsOf('endpoint', 'list', '--project', projectId)).toEqual([]);
    expect(await world.runJson('endpoint', 'list', '--project', projectId, '--all')).toMatchObject([
      { id: endpointId, enabled: false, archivedAt: expect.stringMatching(/Z$/) },
    ]);
    const after = await world.send(projectId);
    expect((await world.waitForWebhook(after)).webhook.endpointIds).toEqual([]);
    expect(await world.runJson('webhook', 'show', held)).toMatchObject({ deliveries: [{ state: 'held' }] });
  });

  it('an archived endpoint can no longer be changed', async () => {
    await world.runJson('endpoint', 'archive', endpointId);
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
  it('an archived project is answered 401 like an unknown one, and its held deliveries stay held', async () => {
    await world.runJson('endpoint', 'pause', endpointId);
    const held = await world.send(projectId);
    await world.waitForWebhook(held, isInState('held'));
    await world.runJson('project', 'archive', projectId);
    const refused = await world.trySend(projectId);
    expect(jsonOf(refused, 1)).toMatchObject({ statusCode: 401 });

    const answerOf = async (id: string) => {
      const response = await fetch(`${world.receiver.url}/v1/webhooks/${id}`, {
        method: 'POST',
        headers: { 'x-hub-signature-256': `sha256=${'ab'.repeat(32)}` },
        body: '{}',
      });
      return { status: response.status, text: await response.text() };
    };
    expect(await answerOf(projectId)).toEqual(await answerOf('01890a5d-ac96-774b-bcce-b302099a8057'));
    expect(await world.runJson('webhook', 'show', held)).toMatchObject({ deliveries: [{ state: 'held' }] });
  });

  it('an archived project is hidden with its endpoints and can no longer be changed', async () => {
    await world.runJson('project', 'archive', projectId);
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
