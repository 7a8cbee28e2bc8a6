import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from './redis-url.ts';

describe('a Redis URL', () => {
  it.each(['redis://localhost', 'redis://:secret@cache:6380/2', 'rediss://u:p@cache.internal'])(
    'the Redis URL %s names one server',
    (url) => expect(parseRedisUrl(url)).toEqual({ kind: 'server', url }),
  );

  it('a Redis URL can name sentinels, with credentials and a database', () => {
    expect(
      parseRedisUrl('redis+sentinel://app:p%40ss@s1:26379,10.0.0.2:26380,[::1]:26381/primary/3'),
    ).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: '10.0.0.2', port: 26_380 },
        { host: '::1', port: 26_381 },
      ],
      master: 'primary',
      username: 'app',
      password: 'p@ss',
      db: 3,
    });
  });

  it.each([
    ['redis+sentinel://s1,s2/primary', undefined, undefined],
    ['redis+sentinel://s1,s2/primary/', undefined, undefined],
    ['redis+sentinel://:pw@s1,s2/primary', undefined, 'pw'],
  ])('the Redis URL %s uses the default port and database', (url, username, password) => {
    expect(parseRedisUrl(url)).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_379 },
      ],
      master: 'primary',
      username,
      password,
      db: 0,
    });
  });

  it.each([
    'redis+sentinel://s1,s2',
    'redis+sentinel:///primary',
    'redis+sentinel://s1,,s2/primary',
    'redis+sentinel://s1:99999/primary',
    'redis+sentinel://u:%zz@s1/primary',
    'redis+sentinel://s1/primary/zero',
    'redis+sentinel://u:p/w@s1/primary',
  ])('the Redis URL %s is refused with the expected form', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(/^must look like redis\+sentinel:\/\/user:password@host/);
  });

  it.each(['http://cache', 'cache:6379', 'redis://', 'redis'])('the Redis URL %s is refused', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(/^must /);
  });
});
