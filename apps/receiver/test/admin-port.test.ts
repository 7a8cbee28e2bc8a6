import type { HealthDeps } from '@hqrelay/runtime/http/health';
import { createHttpServer } from '@hqrelay/runtime/http/http-server';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import express from 'express';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createAdminApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createReceiver, type Receiver } from '../src/receiver.ts';
import { sendRaw } from './receiver-world.ts';

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

it('the admin port answers while the public port has no connection left', async () => {
  const waiting: unknown[] = [];
  const busy = express().post('/', (request) => void waiting.push(request));
  const publicServer = createHttpServer(busy, { connectionsMax: 3 });
  const url = `http://127.0.0.1:${await publicServer.listen(0)}/`;
  const admin = createHttpServer(createAdminApp(healthOfNoStore));
  const adminUrl = `http://127.0.0.1:${await admin.listen(0)}`;
  try {
    const answers = Array.from({ length: 3 }, () => sendRaw(url).catch(() => 'no answer'));
    await waitFor('three requests', () => waiting.length === 3);
    await expect(sendRaw(url, { method: 'GET' })).rejects.toThrow();
    expect((await fetch(`${adminUrl}/health`)).status).toBe(200);
    expect((await fetch(`${adminUrl}/health/ready`)).status).toBe(200);
    await publicServer.close(0);
    expect(await Promise.all(answers)).toEqual(Array(3).fill('no answer'));
  } finally {
    await admin.close(1_000);
  }
});

const healthOfNoStore: HealthDeps = {
  dependencies: {},
  isReady: () => true,
  warnings: () => [],
  isDraining: () => false,
  registry: createRegistry(),
};

function failTest(reason: string): never {
  throw new Error(reason);
}
