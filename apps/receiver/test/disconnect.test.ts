import { seedProject } from '@hqrelay/testing/seed';
import { postWebhook } from '@hqrelay/testing/provider';
import { expect, it } from 'vitest';
import { startReceiverWorld } from './receiver-world.ts';

it('a receiver whose last-seen times are refused by Postgres closes its stores all the same', async () => {
  const receiver = await startReceiverWorld();
  const project = await seedProject(receiver, {});
  expect((await postWebhook(receiver.url, project)).statusCode).toBe(202);
  await receiver.sql.query('revoke update (last_received_at) on projects from hqrelay_receiver');

  await receiver.close();
  expect(receiver.logs).toContainEqual(expect.objectContaining({ msg: 'last_seen.not_written' }));
});
