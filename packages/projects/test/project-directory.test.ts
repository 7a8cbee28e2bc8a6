import { randomUUID } from 'node:crypto';
import { Cache } from '@hqrelay/cache/client';
import { announceProjectChange, ConfigCache } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
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

  override async tryWithin<T>(
    timeoutMs: number,
    query: (pool: pg.Pool) => Promise<T>,
    options?: { raisesDoubt: boolean },
  ) {
    if (this.isUnavailable) return undefined;
    const answer = await super.tryWithin(timeoutMs, query, options);
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
/** Commands that look-ups have sent to Redis. */
let commands = 0;
const redis = () => cache.redis;

beforeAll(async () => {
  world = await createWorld(inject('run'));
});

afterAll(() => world.close());

beforeEach(async () => {
  postgres = new HeldPostgres({
    url: world.databaseUrl,
    applicationName: 'test',
    max: 3,
    onChange: () => {},
  });
  cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {}, answerWithinMs: 30_000 });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
  configs = new ConfigCache({
    cache: counted(cache),
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

  it('a project that has not changed is the same object after it was looked up again', async () => {
    const { id } = await seedProject(world);
    await configs.write((await readProjectConfig(world.sql, id)) as ProjectConfig, 0);
    const first = await directory.find(id, 0);
    const again = await directory.find(id, 5_000);
    expect(again).toMatchObject({ kind: 'found' });
    expect((again as { project: unknown }).project).toBe((first as { project: unknown }).project);
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

describe('ids that are no project', () => {
  const randomIds = (count: number) => Array.from({ length: count }, () => randomUUID());
  const kindsOf = async (ids: string[], now = 0) => {
    const lookups = await Promise.all(ids.map(async (id) => directory.find(id, now)));
    return new Set(lookups.map(({ kind }) => kind));
  };

  it('ids that are no project share a statement of Postgres and a command of Redis', async () => {
    const commandsBefore = commands;
    expect(await kindsOf(randomIds(1_000))).toEqual(new Set(['unknown']));
    expect(postgres.reads).toBeLessThanOrEqual(10);
    expect(commands - commandsBefore).toBeLessThanOrEqual(10);
  });

  it('ids that are no project are looked up again after five seconds', async () => {
    const [id = ''] = randomIds(1);
    await directory.find(id, 0);
    await directory.find(id, 4_999);
    expect(postgres.reads).toBe(1);
    await directory.find(id, 5_000);
    expect(postgres.reads).toBe(2);
  });

  it('ids that are no project evict no project from memory', async () => {
    const { id } = await seedProject(world);
    await directory.find(id, 0);
    for (let batch = 0; batch < 110; batch += 1) await kindsOf(randomIds(100));
    postgres.isUnavailable = true;
    await cache.close();
    expect((await directory.find(id, 10_000)).kind).toBe('found');
  });

  it('a project that nothing has looked up yet is found among ids that are no project', async () => {
    const { id } = await seedProject(world);
    const flood = kindsOf(randomIds(2_000));
    expect((await directory.find(id, 0)).kind).toBe('found');
    await flood;
  });

  it('a project is unavailable, not unknown, when too many look-ups wait', async () => {
    const { id } = await seedProject(world);
    const release = postgres.hold();
    const flood = randomIds(11_000).map(async (each) => directory.find(each, 0));
    await Promise.race(flood);
    expect(await directory.find(id, 0)).toEqual({ kind: 'unavailable' });
    release();
    await Promise.all(flood);
    expect((await directory.find(id, 0)).kind).toBe('found');
  });

  it('a slow look-up of ids that are no project leaves Postgres up and its connections to others', async () => {
    await postgres.start();
    const locker = await world.sql.connect();
    try {
      await locker.query('begin; lock table projects in access exclusive mode');
      const kinds = await Promise.all([kindsOf(randomIds(1_000)), kindsOf(randomIds(1_000))]);
      expect(kinds).toEqual([new Set(['unavailable']), new Set(['unavailable'])]);
      expect(
        await postgres.tryWithin(2_000, async (pool) => (await pool.query('select 1')).rowCount),
      ).toEqual({
        value: 1,
      });
      expect(postgres.health.isUp).toBe(true);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
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

/** The same cache, whose commands are counted. */
function counted(original: Cache): Cache {
  return new Proxy(original, {
    get(target, property) {
      if (property === 'tryCommand') commands += 1;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Disables the project and announces it, as the command line tool does. */
async function disable(projectId: string): Promise<void> {
  await world.sql.query('update projects set enabled = false where id = $1', [projectId]);
  await announceProjectChange(redis(), projectId);
}
