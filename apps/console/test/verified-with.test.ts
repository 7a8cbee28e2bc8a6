import { createHmac } from 'node:crypto';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, remove } = await openConsoleWorld();

it('a webhook names the secret that it was verified with, also during an overlap and after a revocation', async () => {
  const created = await post('/api/v1/projects', { name: 'Shop', secret: 'the first secret of Shop' });
  const projectId = created.body.project.id as string;
  const secrets = `/api/v1/projects/${projectId}/secrets`;
  const first = (await get(secrets)).body.items[0].id as string;
  const second = (await post(secrets, { secret: 'the second secret of Shop' })).body.secretId as string;
  const payload = Buffer.from('{"order":4711}');
  const record = (key: string, body = payload) => {
    const signature = createHmac('sha256', key).update(payload).digest('hex');
    const headers: [string, string][] = [['X-Hub-Signature-256', `sha256=${signature}`]];
    return recordWebhook(sql, { projectId }, { payload: body, headers, query: '' });
  };
  const verifiedWith = async (id: string) =>
    (await get(`/api/v1/webhooks/${id}`)).body.verifiedWith as unknown;
  const ofFirst = await record('the first secret of Shop');
  expect(await verifiedWith(ofFirst)).toBe(first);
  expect(await verifiedWith(await record('the second secret of Shop'))).toBe(second);
  expect(await verifiedWith(await record('the second secret of Shop', Buffer.from('altered')))).toBeNull();
  await remove(`${secrets}/${first}`);
  expect(await verifiedWith(ofFirst)).toBe(first);
  expect(await verifiedWith(await recordWebhook(sql, { projectId }, null))).toBeNull();
});
