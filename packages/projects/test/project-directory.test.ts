import { Cache } from '@hqrelay/cache/client';
import { announceProjectChange, readCachedConfig } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { newId } from '@hqrelay/domain/ids';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ProjectDirectory } from '../src/project-directory.ts';

/** A Postgres whose answers can be held back after it has given them, and which can be gone. */
class HeldPostgres extends Postgres {
  reads = 0;
  isGone = false;
  #gate: Promise<void> = Promise.resolve();

  /** Returns what lets the answers go. */
  hold(): () => void {
    let release = () => {};
    this.#gate = new Promise((resolve) => (release = resolve));
    return release;
  }

  override async tryWithin<T>(timeoutMs: number, query: (pool: pg.Pool) => Promise<T>) {
    if (this.isGone) return undefined;
    const answer = await super.tryWithin(timeoutMs, query);
    this.reads += 1;
    await this.#gate;
    return answer;
  }
}

let world: World;
let postgres: HeldPostgres;
let cache: Cache;
let directory: ProjectDirectory;
const redis = () => cache.redis;

beforeAll(async () => {
  world = await createWorld(inject('run'));
});

afterAll(() => world.close());

beforeEach(async () => {
  postgres = new HeldPostgres({
    url: world.databaseUrl,
    applicationName: 'test',
    max: 2,
    onChange: () => {},
  });
  cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {} });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
  directory = new ProjectDirectory({ cache, postgres, ttlSeconds: 300 });
});

afterEach(async () => {
  await Promise.all([cache.close(), postgres.close()]);
});

describe('a project', () => {
  it('is read once for all who ask at once, and then known for five seconds', async () => {
    const { id } = await seedProject(world);
    const lookups = await Promise.all([
      directory.find(id, 0),
      directory.find(id, 0),
      directory.find(id, 4_999),
    ]);
    expect(lookups.map((lookup) => lookup.kind)).toEqual(['found', 'found', 'found']);
    await directory.find(id, 4_999);
    expect(postgres.reads).toBe(1);
  });

  it('is read from Redis where another process has put it', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    await waitFor('Redis to have it', () => readCachedConfig(cache, id));
    const other = new ProjectDirectory({ cache, postgres, ttlSeconds: 300 });
    expect((await other.find(id, 0)).kind).toBe('found');
    expect(postgres.reads).toBe(1);
  });

  it('that does not exist is unknown, until its change is announced', async () => {
    const id = newId();
    expect(await directory.find(id, 0)).toEqual({ kind: 'unknown' });
    expect(await directory.find(id, 1)).toEqual({ kind: 'unknown' });
    expect(postgres.reads).toBe(1);
    directory.forget(id);
    await directory.find(id, 1);
    expect(postgres.reads).toBe(2);
  });

  it('serves on for an hour as it was last known when no store answers, and not longer', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    postgres.isGone = true;
    await cache.close();
    expect((await directory.find(id, 3_599_000)).kind).toBe('found');
    directory.forget(null);
    expect((await directory.find(id, 3_599_000)).kind).toBe('found');
    expect(await directory.find(id, 3_600_001)).toEqual({ kind: 'unavailable' });
  });

  it('that nobody has asked for before is unavailable when no store answers', async () => {
    const { id } = await seedProject(world);
    postgres.isGone = true;
    await cache.close();
    expect(await directory.find(id, 0)).toEqual({ kind: 'unavailable' });
  });

  it('whose entry in Redis cannot be read is read from Postgres', async () => {
    const { id } = await seedProject(world);
    await redis().set(`hqrelay:projectConfig:{${id}}`, '7 {"version":');
    expect((await directory.find(id, 0)).kind).toBe('found');
    expect(postgres.reads).toBe(1);
  });
});

describe('a change that is announced while the project is being read', () => {
  it.each([
    ['itself', (id: string) => id],
    ['perhaps, because announcements may have been missed', () => null],
  ])('%s, leaves nothing of before in memory', async (_name, announced) => {
    const { id } = await seedProject(world);
    const release = postgres.hold();
    const slow = directory.find(id, 0);
    await waitFor('the project to be read', () => postgres.reads === 1);
    await disable(id);
    directory.forget(announced(id));
    release();
    await slow;
    expect(await directory.find(id, 1)).toMatchObject({ kind: 'found', project: { enabled: false } });
    expect(await directory.find(id, 2)).toMatchObject({ kind: 'found', project: { enabled: false } });
  });

  it('leaves nothing of before in Redis, where the reader has not heard of it yet', async () => {
    const { id } = await seedProject(world);
    const release = postgres.hold();
    const slow = directory.find(id, 0);
    await waitFor('the project to be read', () => postgres.reads === 1);
    await disable(id);
    release();
    await slow;
    await redis().ping();

    const other = new ProjectDirectory({ cache, postgres, ttlSeconds: 300 });
    expect(await other.find(id, 0)).toMatchObject({ kind: 'found', project: { enabled: false } });
  });

  it('does not undo what a later reader has read', async () => {
    const { id } = await seedProject(world);
    const release = postgres.hold();
    const slow = directory.find(id, 0);
    await waitFor('the project to be read', () => postgres.reads === 1);
    await disable(id);
    directory.forget(id);
    const later = directory.find(id, 0);
    await waitFor('the project to be read again', () => postgres.reads === 2);
    release();
    await Promise.all([slow, later]);
    expect(await directory.find(id, 1)).toMatchObject({ kind: 'found', project: { enabled: false } });
  });
});

/** Disables the project and announces it, as the command line tool does. */
async function disable(projectId: string): Promise<void> {
  await world.sql.query('update projects set enabled = false where id = $1', [projectId]);
  await announceProjectChange(redis(), projectId);
}
