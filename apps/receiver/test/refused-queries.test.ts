import { createLogger } from '@hqrelay/runtime/logger';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createFindOwed } from '../src/ingest-deps.ts';
import { createReceiver } from '../src/receiver.ts';
import { createStores } from '../src/stores.ts';

let world: World;
let lines: string;
let logger: ReturnType<typeof createLogger>;

beforeEach(async () => {
  world = await createWorld(inject('run'));
  lines = '';
  logger = createLogger({ name: 'receiver', level: 'info' }, { write: (line: string) => (lines += line) });
});

afterEach(() => world.close());

it('a receiver that Postgres refuses the ids accepted without Redis logs it, and accepts webhooks once it may read them', async () => {
  await world.sql.query('revoke select on idempotency_keys from hqrelay_receiver');
  const receiver = createReceiver(readConfig(world.env), {
    logger,
    isDraining: () => false,
    refuse: failTest,
  });
  receiver.connect();
  const url = `http://127.0.0.1:${await receiver.server.listen(0)}`;
  try {
    await waitFor('the log line', () => lines.includes('idempotency_keys.not_read'));
    const project = await seedProject(world);
    await world.sql.query('grant select on idempotency_keys to hqrelay_receiver');
    await waitFor('a 202', async () => (await postWebhook(url, project)).statusCode === 202);
  } finally {
    await receiver.server.close(1_000);
    await receiver.disconnect();
  }
});

it('endpoints that Postgres refuses to name are unknown, and the refusal is logged', async () => {
  const stores = createStores(readConfig(world.env), logger, { postgres: () => {}, redis: () => {} });
  try {
    await stores.postgres.start();
    await waitFor('Postgres', () => stores.postgres.health.isUp);
    const findOwed = createFindOwed(stores.postgres, logger);
    const id = freshId();
    expect(await findOwed(id)).toBeNull();
    await world.sql.query('revoke select on webhook_logs from hqrelay_receiver');
    expect(await findOwed(id)).toBeUndefined();
    expect(lines).toContain('owed_endpoints.not_read');
  } finally {
    await Promise.all([stores.postgres.close(), stores.cache.close()]);
  }
});

function failTest(reason: string): never {
  throw new Error(reason);
}
