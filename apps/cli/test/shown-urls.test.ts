import { appendAudit } from '@hqrelay/db/queries/append-audit';
import { freshId } from '@hqrelay/testing/fresh-id';
import { beforeAll, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';

const secret = 'hunter2-in-the-url';
const world = await openCliWorld();
let projectId: string;
let endpointId: string;
beforeAll(async () => {
  projectId = await world.createProject();
  const url = `https://endpoint.example/hook?tenant=7&token=${secret}`;
  ({ endpointId } = await world.addEndpoint(projectId, url));
});
async function shownBy(...args: string[]): Promise<string> {
  const { stdout, stderr } = await world.run(...args);
  return stdout + stderr;
}

it.each([[], ['--json']])(
  'no command shows the secret parameters of an endpoint URL, with the options %j',
  async (...json) => {
    for (const command of [
      ['endpoint', 'list', '--project', projectId],
      ['endpoint', 'update', endpointId, '--timeout', '9s'],
      ['endpoint', 'pause', endpointId],
    ]) {
      const shown = await shownBy(...command, ...json);
      expect(shown).toContain('tenant=7&token=***');
      expect(shown).not.toContain(secret);
    }
  },
);

it.each([[], ['--json']])(
  'webhook show does not show the secret parameters of the query and the URL, with the options %j',
  async (...json) => {
    const id = freshId();
    const log = {
      id,
      projectId,
      webhookId: id,
      eventType: null,
      status: 'queued' as const,
      reason: null,
      endpointIds: [endpointId],
      duplicateOf: null,
      payloadSha256: 'ab'.repeat(32),
      payloadBytes: 2,
      remoteAddr: null,
      correlationId: 'c',
    };
    const payload = { payload: Buffer.from('{}'), headers: [], query: `tenant=7&api_key=${secret}` };
    await appendAudit(world.sql, [{ kind: 'webhook', log, payload }]);
    const shown = await shownBy('webhook', 'show', id, ...json);
    expect(shown).toContain('tenant=7&api_key=***');
    expect(shown).toContain('tenant=7&token=***');
    expect(shown).not.toContain(secret);
  },
);
