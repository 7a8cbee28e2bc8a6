import { randomUUID } from 'node:crypto';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  admit,
  distrustMemory,
  markFailed,
  markSeen,
  rememberFromBirth,
  replaceReservation,
} from '../src/admission.ts';
import { Cache } from '../src/client.ts';

let cache: Cache;
let projectId: string;

beforeAll(async () => {
  cache = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {} });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
});

afterAll(() => cache.close());

beforeEach(() => {
  projectId = randomUUID();
});

const request = (fields: Partial<Parameters<typeof admit>[1]> = {}) => ({
  projectId,
  webhookId: 'evt_1',
  id: randomUUID(),
  payloadSha256: 'aa',
  token: randomUUID(),
  rateLimitPerMinute: null,
  idempotencyTtlSeconds: 3_600,
  ...fields,
});

const key = (webhookId = 'evt_1') => `hqrelay:idempotency:{${projectId}}:${webhookId}`;
const rateLimitKey = () => `hqrelay:ratelimit:{${projectId}}`;

describe('an id', () => {
  it('is reserved, then pending for others, then seen', async () => {
    const first = request();
    expect(await admit(cache, first)).toMatchObject({ kind: 'admitted', id: first.id, takenOver: false });
    expect(await admit(cache, request())).toEqual({ kind: 'pending', id: first.id, sameBody: true });
    await markSeen(cache, first);
    expect(await admit(cache, request())).toMatchObject({ kind: 'seen', id: first.id, sameBody: true });
    expect(await admit(cache, request({ payloadSha256: 'bb' }))).toMatchObject({
      kind: 'seen',
      sameBody: false,
    });
  });

  it('is kept for the idempotency window, counted from when it was seen', async () => {
    const first = request();
    await admit(cache, first);
    await cache.redis.expire(key(), 60);
    await markSeen(cache, first);
    expect(await cache.redis.ttl(key())).toBeGreaterThan(3_590);
  });

  it('is given to one of many who ask at once', async () => {
    const admissions = await Promise.all(Array.from({ length: 50 }, () => admit(cache, request())));
    expect(admissions.filter((each) => each?.kind === 'admitted')).toHaveLength(1);
    expect(admissions.filter((each) => each?.kind === 'pending')).toHaveLength(49);
  });

  it('that nothing could take is taken over under the same id, by the same body only', async () => {
    const first = request();
    await admit(cache, first);
    await markFailed(cache, first);
    const other = request({ payloadSha256: 'bb' });
    expect(await admit(cache, other)).toMatchObject({ kind: 'admitted', id: other.id, takenOver: false });
    await markFailed(cache, other);
    const third = request({ payloadSha256: 'bb' });
    expect(await admit(cache, third)).toMatchObject({ kind: 'admitted', id: other.id, takenOver: true });
  });
});

describe('a command that runs late', () => {
  it('admits the request that asks again, once, and counts it once', async () => {
    const first = request({ rateLimitPerMinute: 10 });
    await admit(cache, first);
    expect(await admit(cache, first)).toMatchObject({ kind: 'admitted', id: first.id, takenOver: false });
    expect(await cache.redis.zcard(rateLimitKey())).toBe(1);
    await markSeen(cache, first);
    expect(await admit(cache, first)).toMatchObject({ kind: 'seen', id: first.id });
  });

  it('does not give up what another request has reserved meanwhile', async () => {
    const first = request({ rateLimitPerMinute: 10 });
    await admit(cache, first);
    await markFailed(cache, first);
    const second = request({ rateLimitPerMinute: 10 });
    await admit(cache, second);
    await markFailed(cache, first);
    expect(await admit(cache, request())).toMatchObject({ kind: 'pending', id: first.id });
    expect(await cache.redis.zcard(rateLimitKey())).toBe(1);
  });

  it('does not mark as seen what stands under another id by now', async () => {
    const first = request();
    await admit(cache, first);
    await cache.redis.del(key());
    const second = request();
    await admit(cache, second);
    await markSeen(cache, first);
    expect(await admit(cache, request())).toEqual({ kind: 'pending', id: second.id, sameBody: true });
  });

  it('does not make a webhook that was seen fail', async () => {
    const first = request();
    await admit(cache, first);
    await markSeen(cache, first);
    await markFailed(cache, first);
    expect(await admit(cache, request())).toMatchObject({ kind: 'seen', id: first.id });
  });

  it('does not replace the reservation of another request', async () => {
    const first = request();
    await admit(cache, first);
    await replaceReservation(cache, request());
    expect(await admit(cache, request())).toMatchObject({ kind: 'pending', id: first.id });
  });
});

describe('a place in the window', () => {
  it('is given back by a webhook that nothing could take', async () => {
    const first = request({ rateLimitPerMinute: 1 });
    await admit(cache, first);
    expect(await admit(cache, request({ webhookId: 'evt_2', rateLimitPerMinute: 1 }))).toMatchObject({
      kind: 'rate_limited',
    });
    await markFailed(cache, first);
    expect(await admit(cache, request({ webhookId: 'evt_2', rateLimitPerMinute: 1 }))).toMatchObject({
      kind: 'admitted',
    });
  });

  it('is there for nobody where the limit is zero', async () => {
    expect(await admit(cache, request({ rateLimitPerMinute: 0 }))).toMatchObject({ kind: 'rate_limited' });
  });

  it('says when the next one becomes free, also after the limit was lowered', async () => {
    const now = Date.now();
    const members = [-50_000, -40_000, -30_000].flatMap((offset) => [now + offset, randomUUID()]);
    await cache.redis.zadd(rateLimitKey(), ...members);
    const refused = await admit(cache, request({ rateLimitPerMinute: 2 }));
    if (refused?.kind !== 'rate_limited') throw new Error('admitted');
    expect(refused.retryAfterMs).toBeGreaterThan(19_000);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(20_000);
  });
});

describe('rows of answers that repeat or refuse', () => {
  it('are written for the first thousand a minute, then for each hundredth', async () => {
    const first = request();
    await admit(cache, first);
    await markSeen(cache, first);
    const answers: Awaited<ReturnType<typeof admit>>[] = [];
    // A few at a time, so that Redis answers each in time on a busy machine too.
    for (let batch = 0; batch < 26; batch += 1) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => admit(cache, request())))));
    }
    expect(answers.filter((each) => each?.kind === 'seen' && each.logRow)).toHaveLength(1_003);
  });
});

describe('the age of what Redis remembers of a project', () => {
  it('is as old as the project where Redis was told so, and new where it has forgotten', async () => {
    await rememberFromBirth(cache.redis, projectId);
    expect(await ageOf('evt_1')).toBeGreaterThan(1e12);
    await cache.redis.del(`hqrelay:epoch:{${projectId}}`);
    expect(await ageOf('evt_2')).toBeLessThan(1_000);
  });

  it('starts anew when ids were accepted without it, and is not made older by a late command', async () => {
    await rememberFromBirth(cache.redis, projectId);
    expect(await distrustMemory(cache, projectId)).toBe(true);
    await rememberFromBirth(cache.redis, projectId);
    expect(await ageOf('evt_1')).toBeLessThan(1_000);
  });

  async function ageOf(webhookId: string): Promise<number> {
    const admission = await admit(cache, request({ webhookId }));
    if (admission?.kind !== 'admitted') throw new Error('not admitted');
    return admission.redisAgeMs;
  }
});

it('scripts that a restarted Redis does not know are given to it again', async () => {
  await admit(cache, request());
  await cache.redis.script('FLUSH');
  expect(await admit(cache, request())).toMatchObject({ kind: 'pending' });
});
