import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '@hqrelay/services/free-port';
import { listens } from '@hqrelay/services/listens';
import { ServerProcess } from '@hqrelay/services/process/server-process';
import { findRedisServer } from '@hqrelay/services/servers/private-redis';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { startApp } from '@hqrelay/testing/app-process';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

describe.each(['receiver', 'worker'] as const)('the %s at its start', (app) => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld(inject('run'));
  });

  afterAll(() => world.close());

  it('an app whose clock agrees with that of Postgres has no warning', async () => {
    const started = await startApp(app, { env: world.env });
    try {
      await started.waitUntilReady();
      expect(await warningsOf(started.url)).toEqual([]);
    } finally {
      await started.end();
    }
  });

  it('an app whose clock is two hours behind that of Postgres warns in its log and in readiness', async () => {
    const late = `const now = Date.now; Date.now = () => now() - 7_200_000;`;
    const env = {
      ...world.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}`,
    };
    const started = await startApp(app, { env });
    try {
      await started.waitUntilReady();
      const warnings = await waitFor('the warning', async () => {
        const found = await warningsOf(started.url);
        return found.length > 0 && found;
      });
      const sentence = expect.stringMatching(/^this machine's clock is 7\d{6} ms behind Postgres'/);
      expect(warnings).toEqual([{ dependency: 'postgres', warning: sentence }]);
      const logged = started.logs.filter((line) => line['msg'] === 'dependency.badly_set_up');
      expect(logged).toEqual([
        expect.objectContaining({ level: 'error', dependency: 'postgres', warning: sentence }),
      ]);
      if (app === 'worker') expect(await clockOffsetSeconds(started.url)).toBeCloseTo(-7_200, -2);
    } finally {
      await started.end();
    }
  });

  it('an app whose Redis is a node of a cluster exits with 1 and names the reason', async () => {
    const node = await startClusterNode();
    try {
      const started = await startApp(app, { env: { ...world.env, REDIS_URL: node.url } });
      const { code, lastLines } = await started.ended();
      expect(code).toBe(1);
      const sentence = `${app}: REDIS_URL names a node of a Redis Cluster, which HQRelay does not support`;
      expect(lastLines.filter((line) => line.startsWith(sentence))).toHaveLength(1);
    } finally {
      await node.close();
    }
  });
});

async function warningsOf(url: string): Promise<unknown[]> {
  const response = await fetch(`${url}/health/ready`);
  return ((await response.json()) as { warnings: unknown[] }).warnings;
}

async function clockOffsetSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^hqrelay_clock_offset_seconds (\S+)$/m.exec(text)?.[1]);
}

async function startClusterNode(): Promise<{ url: string; close: () => Promise<void> }> {
  const command = findRedisServer();
  if (!command) throw new Error('Redis is not installed');
  const folder = makeThrowAwayFolder('hqrelay-cluster-', inject('run').folder);
  const [port = 0, busPort = 0] = await freePorts(2);
  mkdirSync(join(folder, 'data'));
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: join(folder, 'data'),
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    save: '',
  };
  const server = new ServerProcess({
    name: 'Redis Cluster',
    command,
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    logFile: join(folder, 'redis.log'),
    stopSignal: 'SIGTERM',
  });
  await server.waitUntil(() => listens(port), 60_000);
  return {
    url: `redis://127.0.0.1:${port}`,
    close: async () => {
      await server.kill();
      removeThrowAwayFolder(folder);
    },
  };
}
