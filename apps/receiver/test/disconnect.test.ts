import { createLogger } from '@hqrelay/runtime/logger';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { expect, inject, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createReceiver } from '../src/receiver.ts';

it('a receiver whose last-seen times are refused by Postgres closes its stores all the same', async () => {
  const world = await createWorld(inject('run'));
  let lines = '';
  const receiver = createReceiver(readConfig(world.env), {
    logger: createLogger({ name: 'receiver', level: 'info' }, { write: (line: string) => (lines += line) }),
    isDraining: () => false,
    refuse: failTest,
  });
  receiver.connect();
  const url = `http://127.0.0.1:${await receiver.server.listen(0)}`;
  await waitFor('the receiver to be ready', async () => (await fetch(`${url}/health/ready`)).ok);
  const project = await seedProject(world);
  await world.sql.query('revoke update (last_received_at) on projects from hqrelay_receiver');
  expect((await postWebhook(url, project)).statusCode).toBe(202);

  await receiver.server.close(1_000);
  await receiver.disconnect();
  await world.close();
  expect(lines).toContain('last_seen.not_written');
});

function failTest(reason: string): never {
  throw new Error(reason);
}
