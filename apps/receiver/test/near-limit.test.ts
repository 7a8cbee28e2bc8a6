import { randomUUID } from 'node:crypto';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();

it('a project at 80 % of its rate limit is marked and has one warning in the log, however many webhooks follow', () =>
  world.whileRedisAnswers(async () => {
    const project = await seedProject(world, { rateLimitPerMinute: 10 });
    await post(project, 7);
    expect(await marked(project)).toBeNull();
    expect(warningsOf(project)).toEqual([]);
    await post(project, 1);
    await waitFor('the mark', () => marked(project));
    await post(project, 10);
    expect(warningsOf(project)).toEqual([
      expect.objectContaining({ msg: 'project.near_limit', level: 'warn', rateLimitPerMinute: 10 }),
    ]);
  }));

it('a project over its rate limit is marked near it', () =>
  world.whileRedisAnswers(async () => {
    const project = await seedProject(world, { rateLimitPerMinute: 0 });
    await post(project, 1);
    await waitFor('the mark', () => marked(project));
  }));

it('an unlimited project is never near its limit', () =>
  world.whileRedisAnswers(async () => {
    const project = await seedProject(world, { rateLimitPerMinute: null });
    await post(project, 20);
    expect(await marked(project)).toBeNull();
    expect(warningsOf(project)).toEqual([]);
  }));

async function post(project: SeededProject, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await postWebhook(world.url, project, { webhookId: randomUUID() });
}

const marked = ({ id }: SeededProject) => world.redis.zscore('hqrelay:nearLimit', id);

const warningsOf = ({ id }: SeededProject) =>
  world.logs.filter((line) => line.projectId === id && line.msg !== 'webhook.received');
