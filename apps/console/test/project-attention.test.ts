import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { disableEndpoint } from '@hqrelay/db/queries/disable-endpoint';
import { changeBreaker } from '@hqrelay/db/queries/endpoint-breakers';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, createProject } = await openConsoleWorld();

it('projects are listed with their open breakers, the endpoints that the relay disabled and the dead letters of a day', async () => {
  const quiet = await createProject({ name: 'Quiet' });
  const projectId = await createProject({ name: 'Loud' });
  const endpointIds: string[] = [];
  for (const path of ['a', 'b']) {
    const { body } = await post(`/api/v1/projects/${projectId}/endpoints`, {
      url: `http://127.0.0.1:9/${path}`,
    });
    endpointIds.push(body.endpoint.id as string);
  }
  const [failing, gone] = endpointIds as [string, string];
  const now = Date.now();
  const open = { state: 'open' as const, failures: 12, failingSince: now, openedAt: now, probeAt: now };
  await changeBreaker(sql, failing, () => ({ ...open, intervalMs: 5_000, closedAt: null }));
  await disableEndpoint(sql, gone, 'it answered 410', now);
  for (const ageMs of [1_000, 2_000, 2 * 86_400_000]) {
    const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [failing] });
    const id = deliveryId(webhookLogId, failing);
    const letter = { id, kind: 'delivery' as const, reason: 'used up', projectId, webhookLogId };
    await insertDeadLetters(sql, [{ ...letter, endpointId: failing, content: null }], now - ageMs);
  }
  const { items } = (await get('/api/v1/projects?include=statistics')).body;
  expect(items).toMatchObject([
    {
      id: projectId,
      attention: { openBreakers: 1, disabledEndpoints: 1, deadLetters: 2, deadLettersCapped: false },
    },
    { id: quiet, attention: { openBreakers: 0, disabledEndpoints: 0, deadLetters: 0 } },
  ]);
  expect((await get('/api/v1/projects')).body.items[0]).not.toHaveProperty('attention');
});
