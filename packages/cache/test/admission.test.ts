import { randomUUID } from 'node:crypto';
import { reservationCases } from '@hqrelay/testing/reservation/reservation-cases';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, inject, it } from 'vitest';
import { admit } from '../src/admission/admit.ts';
import { acceptKeys, uncount } from '../src/admission/end-reservation.ts';
import { distrustMemory, trustMemory } from '../src/admission/project-memory.ts';
import { Cache } from '../src/client.ts';
import { formatReservation } from '../src/reservation-value.ts';
import { openAdmission, type Held } from './admission-world.ts';

const { cache, projectId, request, ask, reserve, accept, release } = openAdmission();

const key = (webhookId = 'evt_1') => `hqrelay:idempotency:{${projectId()}}:${webhookId}`;
const rateLimitKey = () => `hqrelay:ratelimit:{${projectId()}}`;

async function redisNow(): Promise<number> {
  const [seconds, microseconds] = await cache.redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

describe('the script reserves a key as the domain does', () => {
  it.each(reservationCases())(
    'the script reserves a key as the domain does: $title',
    async ({ held, ageMs, request: asked, expected }) => {
      if (held) await cache.redis.set(key(), formatReservation({ ...held, at: (await redisNow()) - ageMs }));
      const { state, id, payloadSha256 } = expected.held;
      expect(await reserve(request(asked))).toMatchObject({
        held: { state, id, payloadSha256 },
        isMine: expected.isMine,
        tookOver: expected.tookOver,
      });
    },
  );
});

describe('a key', () => {
  it('a key is reserved, then accepted', async () => {
    const first = request();
    expect(await reserve(first)).toMatchObject({ isMine: true, held: { id: first.id } });
    expect(await reserve(request())).toMatchObject({
      isMine: false,
      held: { state: 'reserved', id: first.id, payloadSha256: 'aa' },
    });
    await accept(first);
    expect(await reserve(request({ payloadSha256: 'bb' }))).toMatchObject({
      isMine: false,
      held: { state: 'accepted', id: first.id, payloadSha256: 'aa' },
    });
  });

  it('a key is kept for the idempotency window, counted from its acceptance', async () => {
    const first = request();
    await reserve(first);
    await cache.redis.expire(key(), 60);
    await accept(first);
    expect(await cache.redis.ttl(key())).toBeGreaterThan(3_590);
  });

  it('of many simultaneous requests one reserves the key', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => reserve(request())));
    expect(answers.filter(({ isMine }) => isMine)).toHaveLength(1);
    expect(new Set(answers.map(({ held }) => held.id)).size).toBe(1);
  });

  it('a key is accepted under the id that Postgres has, and the duplicate gives back its place under the rate limit', async () => {
    const duplicate = request({ rateLimitPerMinute: 10 });
    await reserve(duplicate);
    const id = randomUUID();
    await accept({ ...duplicate, id });
    await uncount(cache, duplicate);
    expect((await reserve(request())).held).toMatchObject({ state: 'accepted', id });
    expect(await cache.redis.zcard(rateLimitKey())).toBe(0);
  });
});

describe('requests of one turn', () => {
  it('a request whose key has another type is refused alone, and the others of its turn are admitted', async () => {
    const messages: string[] = [];
    const onRefused = (error: Error) => messages.push(error.message);
    const observed = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {}, onRefused });
    observed.start();
    await waitFor('Redis', () => observed.health.isUp);
    await observed.redis.rpush(key('evt_bad'), 'not a reservation');
    await waitFor('all answers of one turn', async () => {
      const ids = ['evt_before', 'evt_bad', 'evt_after'];
      const answers = await Promise.all(ids.map((webhookId) => admit(observed, request({ webhookId }))));
      return answers[0] && !answers[1] && answers[2] && messages.length > 0;
    });
    expect(messages[0]).toContain('WRONGTYPE');
    expect(observed.health.isUp).toBe(true);
    await observed.close();
  });

  it('requests of several projects, limits and contents in one turn each get their own answer', async () => {
    // Two requests of each limit follow each other, and two limits in each project, as while it changes.
    const projectIds = Array.from({ length: 8 }, () => randomUUID());
    const limitOf = (number: number) => [null, 0, 5][(number >> 1) % 3] as number | null;
    const asked = Array.from({ length: 30 }, (_, number) =>
      request({
        projectId: projectIds[number >> 2]!,
        webhookId: `evt_${number}`,
        payloadSha256: `sha ${number}`,
        rateLimitPerMinute: limitOf(number),
        contentKeys: [{ name: `body:${number}`, ttlSeconds: 600 }].slice(0, number % 2),
      }),
    );
    const reserveAll = () =>
      waitFor('all answers', async () => {
        const answers = await Promise.all(asked.map((each) => admit(cache, each)));
        return answers.every((answer) => answer !== undefined) && answers;
      });
    await reserveAll();
    const repeated = await reserveAll();
    for (const [number, answer] of repeated.entries()) {
      const { id, payloadSha256 } = asked[number]!;
      if (limitOf(number) === 0) expect(answer).toMatchObject({ kind: 'rate_limited' });
      else expect(answer).toMatchObject({ kind: 'held', isMine: true, held: { id, payloadSha256 } });
    }
    await Promise.all(asked.map((each) => waitFor('the mark', () => acceptKeys(cache, each))));
    for (const [number, answer] of (await reserveAll()).entries()) {
      expect(answer).toMatchObject({
        kind: 'held',
        isMine: false,
        held: { state: 'accepted', id: asked[number]!.id },
      });
    }
  });
});

describe('a command that runs late', () => {
  it('a request that repeats its command reserves the key once and counts once', async () => {
    const first = request({ rateLimitPerMinute: 10 });
    await reserve(first);
    expect(await reserve(first)).toMatchObject({ isMine: true, held: { id: first.id } });
    expect(await cache.redis.zcard(rateLimitKey())).toBe(1);
  });

  it('a request does not release a key that another request has reserved meanwhile', async () => {
    const first = request({ rateLimitPerMinute: 10 });
    await reserve(first);
    await release(first);
    await reserve(request({ rateLimitPerMinute: 10 }));
    await release(first);
    expect(await reserve(request())).toMatchObject({ isMine: false, held: { state: 'reserved' } });
    expect(await cache.redis.zcard(rateLimitKey())).toBe(1);
  });

  it('a request does not release an accepted key', async () => {
    const first = request();
    await reserve(first);
    await accept(first);
    await release(first);
    expect((await reserve(request())).held).toMatchObject({ state: 'accepted', id: first.id });
  });
});

describe('the same content under another id', () => {
  const contentKeys = [{ name: 'signature:ab', ttlSeconds: 600 }];

  it('the same content under another id waits for the first request, and is a duplicate when that is accepted', async () => {
    const first = request({ contentKeys });
    await reserve(first);
    const second = request({ webhookId: 'evt_2', contentKeys });
    expect(await reserve(second)).toMatchObject({ isMine: false, held: { state: 'reserved', id: first.id } });
    await accept(first);
    expect(await reserve(second)).toMatchObject({ isMine: false, held: { state: 'accepted', id: first.id } });
    expect(await cache.redis.exists(key('evt_2'))).toBe(0);
    expect(await cache.redis.ttl(`hqrelay:content:{${projectId()}}:signature:ab`)).toBeGreaterThan(590);
  });

  it('the same content under another id takes over the id of a request that released it', async () => {
    const first = request({ contentKeys });
    await reserve(first);
    await release(first);
    const second = request({ webhookId: 'evt_2', contentKeys });
    expect(await reserve(second)).toMatchObject({ isMine: true, tookOver: true, held: { id: first.id } });
  });
});

describe('a place under the rate limit', () => {
  it('a webhook that no store could take gives back its place under the rate limit', async () => {
    const first = request({ rateLimitPerMinute: 1 });
    await reserve(first);
    const second = request({ webhookId: 'evt_2', rateLimitPerMinute: 1 });
    expect(await ask(second)).toMatchObject({ kind: 'rate_limited' });
    await release(first);
    expect(await ask(second)).toMatchObject({ kind: 'held', isMine: true });
  });

  it('a limit of zero refuses every webhook', async () => {
    expect(await ask(request({ rateLimitPerMinute: 0 }))).toMatchObject({ kind: 'rate_limited' });
  });

  it('a rate-limited answer says when the next place becomes free, also after the limit was lowered', async () => {
    const now = Date.now();
    const members = [-50_000, -40_000, -30_000].flatMap((offset) => [now + offset, randomUUID()]);
    await cache.redis.zadd(rateLimitKey(), ...members);
    const refused = await ask(request({ rateLimitPerMinute: 2 }));
    if (refused.kind !== 'rate_limited') throw new Error('not refused');
    // The other members leave within 10 s and after 20 s.
    expect(refused.retryAfterMs).toBeGreaterThan(10_000);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(20_000);
  });
});

it.each([
  ['a project with a limit get a row of their own for the first thousand a minute', 100, 1_000],
  ['an unlimited project get a row each', null, 1_300],
])('repeated answers of %s', async (_project, rateLimitPerMinute, rows) => {
  const first = request();
  await reserve(first);
  await accept(first);
  const answers: Held[] = [];
  // 50 at a time, so that Redis answers each in time on a busy machine too.
  for (let batch = 0; batch < 26; batch += 1) {
    answers.push(
      ...(await Promise.all(Array.from({ length: 50 }, () => reserve(request({ rateLimitPerMinute }))))),
    );
  }
  expect(answers.filter(({ hasOwnRow }) => hasOwnRow)).toHaveLength(rows);
});

describe('the age of the epoch of a project', () => {
  /** More than any test takes, and far less than the age of an old epoch. */
  const anewMs = 3_600_000;
  const ageOf = async (webhookId: string) => (await reserve(request({ webhookId }))).memoryAgeMs;

  it('the epoch of a project that was created with Redis is old, and an epoch that Redis lost begins anew', async () => {
    await trustMemory(cache.redis, projectId());
    expect(await ageOf('evt_1')).toBeGreaterThan(1e12);
    await cache.redis.del(`hqrelay:epoch:{${projectId()}}`);
    expect(await ageOf('evt_2')).toBeLessThan(anewMs);
  });

  it('the epoch begins anew after ids were accepted without Redis, and no late command makes it older', async () => {
    await trustMemory(cache.redis, projectId());
    await distrustMemory(cache.redis, projectId());
    await trustMemory(cache.redis, projectId());
    expect(await ageOf('evt_1')).toBeLessThan(anewMs);
  });
});

it('a script that a restarted Redis does not have is sent again', async () => {
  await reserve(request());
  await cache.redis.script('FLUSH');
  expect(await reserve(request())).toMatchObject({ isMine: false, held: { state: 'reserved' } });
});
