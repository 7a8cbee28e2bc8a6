import { randomUUID } from 'node:crypto';
import { postWebhook, type ProviderAnswer } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();

describe('a project with a limit of 100 a minute', () => {
  it('a project with a limit of 100 a minute accepts 100 webhooks and refuses the next with Retry-After', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 100 });
      const startedAt = await world.redisNow();
      const statusCodes: number[] = [];
      // Ten at a time: the limit fails open when Redis answers too late, as it may on a busy machine.
      for (let batch = 0; batch < 13; batch += 1) {
        const answers = await Promise.all(Array.from({ length: 10 }, () => post(project)));
        statusCodes.push(...answers.map((answer) => answer.statusCode));
      }
      expect(statusCodes.filter((code) => code === 202)).toHaveLength(100);
      expect(statusCodes.filter((code) => code === 429)).toHaveLength(30);

      const refused = await post(project);
      expect(refused.statusCode).toBe(429);
      expect(refused.body.error?.code).toBe('project.rate_limited');
      await expectRetryAfter(refused, { leftMs: 60_000, startedAt });
      expect(await world.logsOf(project.id, 'queued')).toHaveLength(100);
      const [row] = await world.waitForLogs(project.id, 'rate_limited', 31);
      expect(await world.payloadOf(row!.id)).toBeUndefined();
    }));

  it('the rate limit counts a sliding window of sixty seconds, not the minutes of the clock', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 100 });
      const startedAt = await world.redisNow();
      // Before this minute of the clock, in all runs but those that begin at its end: there the window would be over soon.
      const intoMinuteMs = startedAt % 60_000;
      const agoMs = intoMinuteMs < 40_000 ? intoMinuteMs + 5_000 : 1_000;
      await countAt(project, 99, -agoMs);
      expect((await post(project)).statusCode).toBe(202);
      const refused = await post(project);
      expect(refused.statusCode).toBe(429);
      await expectRetryAfter(refused, { leftMs: 60_000 - agoMs, startedAt });
    }));

  it('the rate limit accepts as many webhooks as have left the window', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 100 });
      const startedAt = await world.redisNow();
      await countAt(project, 3, -60_001);
      await countAt(project, 97, -30_000);
      const statusCodes = [];
      for (let i = 0; i < 4; i += 1) statusCodes.push((await post(project)).statusCode);
      expect(statusCodes).toEqual([202, 202, 202, 429]);
      await expectRetryAfter(await post(project), { leftMs: 30_000, startedAt });
    }));

  it('the rate limit does not count webhooks that it refused', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 100 });
      await countAt(project, 100, -30_000);
      for (let i = 0; i < 3; i += 1) expect((await post(project)).statusCode).toBe(429);
      expect(await world.redis.zcard(rateLimitKey(project))).toBe(100);
    }));
});

describe('a duplicate', () => {
  it('a duplicate does not count towards the rate limit, and is answered while the project is over it', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 2 });
      const first = await post(project, 'evt_1');
      for (let i = 0; i < 5; i += 1) expect((await post(project, 'evt_1')).statusCode).toBe(202);
      expect((await post(project, 'evt_2')).statusCode).toBe(202);
      expect((await post(project, 'evt_3')).statusCode).toBe(429);
      const again = await post(project, 'evt_1');
      expect(again.text).toBe(first.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }));

  it('a duplicate that Redis has lost and Postgres has does not count towards the rate limit', () =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 2 });
      await post(project, 'evt_1');
      await world.forgetInRedis(project.id);
      expect((await post(project, 'evt_1')).headers.get('idempotent-replayed')).toBe('true');
      expect((await post(project, 'evt_2')).statusCode).toBe(202);
      expect((await post(project, 'evt_3')).statusCode).toBe(202);
      expect((await post(project, 'evt_4')).statusCode).toBe(429);
    }));
});

it('a webhook that was refused by the rate limit is a new webhook when it is sent again', () =>
  world.whileRedisAnswers(async () => {
    const project = await seedProject(world, { rateLimitPerMinute: 1 });
    await post(project, 'evt_1');
    expect((await post(project, 'evt_2')).statusCode).toBe(429);
    expect(await world.redis.exists(`hqrelay:idempotency:{${project.id}}:evt_2`)).toBe(0);

    await world.redis.del(rateLimitKey(project));
    const later = await post(project, 'evt_2');
    expect(later.statusCode).toBe(202);
    expect(later.headers.get('idempotent-replayed')).toBeNull();
  }));

it('each project has its own rate limit', () =>
  world.whileRedisAnswers(async () => {
    const [one, other] = await Promise.all([
      seedProject(world, { rateLimitPerMinute: 1 }),
      seedProject(world, { rateLimitPerMinute: 1 }),
    ]);
    const statusCodes = [];
    for (const project of [one, one, other]) statusCodes.push((await post(project)).statusCode);
    expect(statusCodes).toEqual([202, 429, 202]);
  }));

it('an unlimited project accepts every webhook and counts none', () =>
  world.whileRedisAnswers(async () => {
    const project = await seedProject(world, { rateLimitPerMinute: null });
    const statusCodes = await Promise.all(
      Array.from({ length: 150 }, async () => (await post(project)).statusCode),
    );
    expect(new Set(statusCodes)).toEqual(new Set([202]));
    expect(await world.redis.exists(rateLimitKey(project))).toBe(0);
  }));

function post(project: SeededProject, webhookId: string = randomUUID()) {
  return postWebhook(world.url, project, { webhookId });
}

/** The first webhook of the window leaves it `leftMs` after it was counted, which was after `startedAt`. */
async function expectRetryAfter(
  answer: ProviderAnswer,
  { leftMs, startedAt }: { leftMs: number; startedAt: number },
): Promise<void> {
  const elapsedMs = (await world.redisNow()) - startedAt;
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(Math.max(1, Math.floor((leftMs - elapsedMs) / 1_000)));
  expect(seconds).toBeLessThanOrEqual(Math.ceil(leftMs / 1_000));
}

const rateLimitKey = (project: SeededProject) => `hqrelay:ratelimit:{${project.id}}`;

/** Adds `count` webhooks of an earlier time to the window. */
async function countAt(project: SeededProject, count: number, offsetMs: number): Promise<void> {
  const at = (await world.redisNow()) + offsetMs;
  const members = Array.from({ length: count }, () => [at, randomUUID()]);
  await world.redis.zadd(rateLimitKey(project), ...members.flat());
}
