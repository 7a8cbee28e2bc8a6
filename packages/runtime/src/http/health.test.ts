import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { HealthTracker, type StoreState } from '@hqrelay/flow/store-health';
import { createHealthRouter, createLivenessRouter } from './health.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';
import { createRegistry } from '../metrics.ts';

const servers: HttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(50))));

async function serve(router: express.Router): Promise<(path: string) => Promise<Response>> {
  const server = createHttpServer(express().use(router));
  servers.push(server);
  const port = await server.listen(0);
  return (path) => fetch(`http://127.0.0.1:${port}${path}`);
}

function serveHealth(postgres: StoreState, redis: StoreState, isDraining = false) {
  return serve(
    createHealthRouter({
      dependencies: {
        postgres: () => healthIn(postgres),
        redis: () => healthIn(redis),
      },
      isReady: (states) => states.postgres === 'up',
      isDraining: () => isDraining,
      warnings: () => [{ dependency: 'redis', warning: 'evicts keys' }],
      registry: createRegistry(),
    }),
  );
}

function healthIn(state: StoreState): HealthTracker {
  const health = new HealthTracker(() => {});
  health.change(state, state === 'up' ? undefined : 'connection refused');
  return health;
}

describe('GET /health', () => {
  it('GET /health is 200 in any state of the dependencies', async () => {
    const get = await serveHealth('down', 'down', true);
    const response = await get('/health');
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('GET /health is served alone where readiness and metrics have a port of their own', async () => {
    const get = await serve(createLivenessRouter());
    expect((await get('/health')).status).toBe(200);
    expect((await get('/health/ready')).status).toBe(404);
    expect((await get('/metrics')).status).toBe(404);
  });
});

describe('GET /health/ready', () => {
  it.each([
    ['up', 'up', false, 200, 'ready'],
    ['up', 'down', false, 200, 'degraded'],
    ['up', 'starting', false, 200, 'degraded'],
    ['up', 'blocked', false, 200, 'degraded'],
    ['down', 'up', false, 503, 'unavailable'],
    ['up', 'up', true, 503, 'draining'],
    ['down', 'up', true, 503, 'draining'],
  ] as const)(
    'GET /health/ready with postgres %s, redis %s, draining %s is %i %s',
    async (postgres, redis, draining, code, status) => {
      const get = await serveHealth(postgres, redis, draining);
      const response = await get('/health/ready');
      expect(response.status).toBe(code);
      const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
      const reason = (state: string) => (state === 'up' ? {} : { detail: 'connection refused' });
      expect(await response.json()).toEqual({
        status,
        dependencies: {
          postgres: { state: postgres, since, ...reason(postgres) },
          redis: { state: redis === 'blocked' ? 'down' : redis, since, ...reason(redis) },
        },
        warnings: [{ dependency: 'redis', warning: 'evicts keys' }],
      });
    },
  );
});

describe('GET /metrics', () => {
  it('GET /metrics has a gauge for each dependency that is 1 while it is up', async () => {
    const get = await serveHealth('up', 'starting');
    const response = await get('/metrics');
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(text).toContain('hqrelay_dependency_up{dependency="postgres"} 1\n');
    expect(text).toContain('hqrelay_dependency_up{dependency="redis"} 0\n');
    expect(text).toContain('process_resident_memory_bytes');
  });
});
