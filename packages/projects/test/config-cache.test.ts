import { randomBytes } from 'node:crypto';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { Cache } from '@hqrelay/cache/client';
import { announceProjectChange, ConfigCache, type FoundConfig } from '@hqrelay/cache/project-config';
import { freshId } from '@hqrelay/testing/fresh-id';

const now = 1_700_000_000_000;
const ttlSeconds = 300;
const newKey = () => randomBytes(32).toString('base64');

let world: World;
let cache: Cache;
let config: ProjectConfig;
let untrusted: string[];
let configs: ConfigCache;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {}, answerWithinMs: 30_000 });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
});

afterAll(async () => {
  await cache.close();
  await world.close();
});

beforeEach(async () => {
  const { id } = await seedProject(world);
  config = (await readProjectConfig(world.sql, id)) as ProjectConfig;
  untrusted = [];
  configs = open(world.secretsKey);
});

function open(secretsKey: string): ConfigCache {
  return new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(secretsKey)),
    ttlSeconds,
    onUntrusted: (projectId) => untrusted.push(projectId),
  });
}

const key = (id = config.id) => `hqrelay:projectConfig:{${id}}`;
const isCached = async () => (await configs.read(config.id, now)).kind === 'found';

describe('a cached configuration', () => {
  it('a cached configuration is read by this process and another', async () => {
    await configs.write(config, now);
    expect(await open(world.secretsKey).read(config.id, now)).toMatchObject({ kind: 'found', config });
    expect(untrusted).toEqual([]);
  });

  it('a configuration never replaces a newer one, nor is written just after a change', async () => {
    await configs.write({ ...config, version: config.version + 1 }, now);
    await configs.write(config, now);
    expect(await configs.read(config.id, now)).toMatchObject({ config: { version: config.version + 1 } });
    await announceProjectChange(cache.redis, config.id);
    await configs.write({ ...config, version: config.version + 2 }, now);
    expect(await isCached()).toBe(false);
  });
});

describe('an entry that this process holds', () => {
  const expiresAt = now + ttlSeconds * 1_000;
  let held: FoundConfig;

  beforeEach(async () => {
    await configs.write(config, now);
    held = (await configs.read(config.id, now)) as FoundConfig;
  });

  it('an entry that is held is returned while Redis has one with its head, whatever follows the head', async () => {
    await cache.redis.append(key(), 'forged');
    expect(await configs.read(config.id, expiresAt - 1, held)).toBe(held);
    expect(untrusted).toEqual([]);
  });

  it('an entry that is held is not used after its expiry', async () => {
    expect(await configs.read(config.id, expiresAt, held)).toEqual({ kind: 'absent' });
  });

  it('an entry that is held is not used once Redis has a newer one, none, or an announced change', async () => {
    const newer = { ...config, version: config.version + 1 };
    await configs.write(newer, now);
    expect(await configs.read(config.id, now, held)).toMatchObject({ kind: 'found', config: newer });
    await announceProjectChange(cache.redis, config.id);
    expect(await configs.read(config.id, now, held)).toEqual({ kind: 'absent' });
    await cache.redis.del(key());
    expect(await configs.read(config.id, now, held)).toEqual({ kind: 'absent' });
  });
});

describe('an entry that this relay did not write', () => {
  it.each([
    ['has another content', (text: string) => text.replace('"enabled":true', '"enabled":false')],
    ['has a higher version', (text: string) => text.replace(/^\d+/, '999999999')],
    ['has a later expiry', (text: string) => text.replace(/ \d+ /, ` ${now * 2} `)],
    ['has no MAC', (text: string) => text.replace(/ [\w-]{43} /, ' ')],
    ['was written by a version without MACs', () => `${config.version} ${JSON.stringify(config)}`],
    ['is not readable', () => '7 {"version":'],
  ])('an entry that %s is ignored, reported once, and overwritten', async (_why, change) => {
    await configs.write(config, now);
    const forged = change((await cache.redis.get(key())) as string);
    await cache.redis.set(key(), forged);
    const read = await configs.read(config.id, now);
    expect(read).toEqual({ kind: 'absent', untrusted: forged });
    await configs.read(config.id, now);
    expect(untrusted).toEqual([config.id]);
    await configs.write(config, now, forged);
    expect(await isCached()).toBe(true);
  });

  it('an entry of another project is ignored', async () => {
    await configs.write(config, now);
    const other = freshId();
    await cache.redis.set(key(other), (await cache.redis.get(key())) as string);
    expect(await configs.read(other, now)).toMatchObject({ kind: 'absent' });
    expect(untrusted).toEqual([other]);
  });

  it('an older version of the relay cannot parse an entry of this version, but can read its version', async () => {
    await configs.write(config, now);
    const ours = (await cache.redis.get(key())) as string;
    expect(() => JSON.parse(ours.slice(ours.indexOf(' ') + 1)) as unknown).toThrow(SyntaxError);
    expect(Number(/^(\d+) /.exec(ours)?.[1])).toBe(config.version);
  });
});

it('an entry that is in Redis after its expiry is not used', async () => {
  await configs.write(config, now);
  const text = (await cache.redis.get(key())) as string;
  await cache.redis.set(key(), text);
  expect((await configs.read(config.id, now + ttlSeconds * 1_000 - 1)).kind).toBe('found');
  expect(await configs.read(config.id, now + ttlSeconds * 1_000)).toEqual({ kind: 'absent' });
});

it('while keys are rotated, processes with both keys read what either key signed', async () => {
  const added = newKey();
  const rotated = open(`${added},${world.secretsKey}`);
  await configs.write(config, now);
  expect((await rotated.read(config.id, now)).kind).toBe('found');
  await rotated.write(config, now);
  expect((await open(`${world.secretsKey},${added}`).read(config.id, now)).kind).toBe('found');
  // A process that does not have the new key yet asks Postgres.
  expect((await configs.read(config.id, now)).kind).toBe('absent');
});
