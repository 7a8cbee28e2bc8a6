import { Cache } from '@hqrelay/cache/client';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeEach, expect, inject, it } from 'vitest';
import { RedisTrust } from '../src/reservation/redis-trust.ts';

const caches: Cache[] = [];
let cache: Cache;
let trust: RedisTrust;

beforeEach(() => {
  cache = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {} });
  caches.push(cache);
  trust = new RedisTrust(cache);
});

afterAll(() => Promise.all(caches.map((each) => each.close())));

const epochOf = (projectId: string) => cache.redis.get(`hqrelay:epoch:{${projectId}}`);

async function connect(): Promise<void> {
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
}

it('every project that was served without Redis is reported to it when it is up again', async () => {
  const served = Array.from({ length: 250 }, freshId);
  for (const projectId of served) trust.servedWithout(projectId);
  await connect();
  await trust.reportAll();
  for (const projectId of served) expect(Number(await epochOf(projectId))).toBeGreaterThan(0);
  expect(await epochOf(freshId())).toBeNull();
});

it('a project is reported to Redis although a hundred thousand others were served without it', async () => {
  for (let other = 0; other < 100_000; other += 1) trust.servedWithout(`other ${other}`);
  const projectId = freshId();
  trust.servedWithout(projectId);
  await connect();
  await trust.report(projectId);
  expect(Number(await epochOf(projectId))).toBeGreaterThan(0);
});

it('a report that Redis did not take is repeated at the next request of the project', async () => {
  const projectId = freshId();
  trust.servedWithout(projectId);
  await trust.report(projectId);
  await connect();
  expect(await epochOf(projectId)).toBeNull();
  await trust.report(projectId);
  expect(Number(await epochOf(projectId))).toBeGreaterThan(0);
});
