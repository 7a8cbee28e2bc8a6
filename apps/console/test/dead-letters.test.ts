import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { afterAll, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, createProject } = await openConsoleWorld();
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());

it('dead letters are listed in pages, the newest first, by endpoint and period', async () => {
  const projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: `${endpoint.url}?token=hush` });
  const endpointId = added.body.endpoint.id as string;
  const died = Date.UTC(2026, 10, 1);
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
    const id = deliveryId(webhookLogId, endpointId);
    const letter = {
      id,
      kind: 'delivery' as const,
      reason: 'schedule used up',
      projectId,
      webhookLogId,
      endpointId,
    };
    await insertDeadLetters(sql, [{ ...letter, content: null }], died + index);
    ids.unshift(id);
  }
  const path = `/api/v1/projects/${projectId}/dead-letters`;
  const read = async (query: string) => (await get(`${path}?${query}`)).body;
  const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);
  const first = await read('limit=2');
  const second = await read(`limit=2&cursor=${first.nextCursor}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
  expect(JSON.stringify(first)).not.toContain('hush');
  expect(
    idsOf(await read(`since=${new Date(died + 1).toISOString()}&until=${new Date(died + 2).toISOString()}`)),
  ).toEqual([ids[1]]);
  expect(idsOf(await read(`endpointId=${projectId}`))).toEqual([]);
  await sql.query('update dead_letters set replayed_at = now() where id = $1', [ids[0]]);
  expect(idsOf(await read(''))).toEqual(ids.slice(1));
  expect(idsOf(await read('replayed=true'))).toEqual(ids);
});
