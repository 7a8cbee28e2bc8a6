import { Cache } from '@hqrelay/cache/client';
import { announceProjectChange, ConfigCache } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ProjectDirectory } from '../src/project-directory.ts';

/** A Postgres whose answers a test can delay after they were read, and which a test can make unavailable. */
class HeldPostgres extends Postgres {
  reads = 0;
  isUnavailable = false;
  #gate: Promise<void> = Promise.resolve();

  /** Delays every answer until the returned function is called. */
  hold(): () => void {
    let release = () => {};
    this.#gate = new Promise((resolve) => (release = resolve));
    return release;
  }

  override async tryWithin<T>(timeoutMs: number, query: (pool: pg.Pool) => Promise<T>) {
    if (this.isUnavailable) return undefined;
    const answer = await super.tryWithin(timeoutMs, query);
    this.reads += 1;
    await this.#gate;
    return answer;
  }
}

let world: World;
let postgres: HeldPostgres;
let cache: Cache;
let configs: ConfigCache;
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
  configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(world.secretsKey)),
    ttlSeconds: 300,
    onUntrusted: () => {},
  });
  directory = new ProjectDirectory({ configs, postgres });
});

afterEach(async () => {
  await Promise.all([cache.close(), postgres.close()]);
});

describe('a project', () => {
  it('a project is read once for simultaneous look-ups, and then served from memory for five seconds', async () => {
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

  it('a project that another process has cached is read from Redis', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    await waitFor('Redis to have it', async () => (await configs.read(id, 0)).kind === 'found');
    const other = new ProjectDirectory({ configs, postgres });
    expect((await other.find(id, 0)).kind).toBe('found');
    expect(postgres.reads).toBe(1);
  });

  it('a project that does not exist stays unknown until a change is announced', async () => {
    const id = freshId();
    expect(await directory.find(id, 0)).toEqual({ kind: 'unknown' });
    expect(await directory.find(id, 1)).toEqual({ kind: 'unknown' });
    expect(postgres.reads).toBe(1);
    directory.forget(id);
    await directory.find(id, 1);
    expect(postgres.reads).toBe(2);
  });

  it('a project is served from memory for an hour, and not longer, while no store answers', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    postgres.isUnavailable = true;
    await cache.close();
    expect((await directory.find(id, 3_599_000)).kind).toBe('found');
    directory.forget(null);
    expect((await directory.find(id, 3_599_000)).kind).toBe('found');
    expect(await directory.find(id, 3_600_001)).toEqual({ kind: 'unavailable' });
  });

  it('a project that was never looked up is unavailable while no store answers', async () => {
    const { id } = await seedProject(world);
    postgres.isUnavailable = true;
    await cache.close();
    expect(await directory.find(id, 0)).toEqual({ kind: 'unavailable' });
  });

  it('a project whose entry in Redis is forged is read from Postgres, and the entry is overwritten', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    const key = `hqrelay:projectConfig:{${id}}`;
    const text = await waitFor('Redis to have it', () => redis().get(key));
    await redis().set(key, text.replace(/^\d+/, '999999999').replace('"enabled":true', '"enabled":false'));
    const other = new ProjectDirectory({ configs, postgres });
    expect(await other.find(id, 0)).toMatchObject({ kind: 'found', project: { enabled: true } });
    expect(postgres.reads).toBe(2);
    await waitFor('Redis to have it', async () => (await configs.read(id, 0)).kind === 'found');
  });
});

describe('a change that is announced while the project is being read', () => {
  it.each([
    ['by its id', (id: string) => id],
    ['as an announcement that may have been missed', () => null],
  ])(
    'a change that is announced %s during a read leaves no older state in memory',
    async (_name, announced) => {
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
    },
  );

  it('a change during a read leaves no older state in Redis, although the reader has not received the announcement yet', async () => {
    const { id } = await seedProject(world);
    const release = postgres.hold();
    const slow = directory.find(id, 0);
    await waitFor('the project to be read', () => postgres.reads === 1);
    await disable(id);
    release();
    await slow;
    await redis().ping();

    const other = new ProjectDirectory({ configs, postgres });
    expect(await other.find(id, 0)).toMatchObject({ kind: 'found', project: { enabled: false } });
  });

  it('a read that is older than a change does not overwrite the result of a later reader', async () => {
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
