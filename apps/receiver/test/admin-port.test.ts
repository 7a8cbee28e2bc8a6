import { createLogger } from '@hqrelay/runtime/logger';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createReceiver, type Receiver } from '../src/receiver.ts';

let world: World;
let receiver: Receiver;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  const logger = createLogger({ name: 'receiver', level: 'silent' });
  // The variable only has to be set: the test listens on any free port.
  const config = readConfig({ ...world.env, LOG_LEVEL: 'silent', RECEIVER_ADMIN_PORT: '9' });
  receiver = createReceiver(config, { logger, isDraining: () => false, refuse: failTest });
});

afterAll(async () => {
  await Promise.all([receiver.server.close(1_000), receiver.adminServer?.close(1_000)]);
  await receiver.disconnect();
  await world.close();
});

it('metrics and readiness answer on the admin port alone, and liveness answers on both ports', async () => {
  const ports = [await receiver.server.listen(0), await receiver.adminServer!.listen(0)];
  const statusCodes = async (path: string) =>
    Promise.all(ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}${path}`)).status));
  expect(await statusCodes('/health')).toEqual([200, 200]);
  expect(await statusCodes('/metrics')).toEqual([404, 200]);
  // The receiver is not connected to any store.
  expect(await statusCodes('/health/ready')).toEqual([404, 503]);
});

function failTest(reason: string): never {
  throw new Error(reason);
}
