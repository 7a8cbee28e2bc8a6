import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();

it.each([
  ['duplicates', 'duplicate', 'evt_1', '{"a":1}', 202],
  ['conflicts', 'conflict', 'evt_1', '{"a":2}', 409],
  ['requests over the rate limit', 'rate_limited', 'evt_2', '{"a":2}', 429],
] as const)(
  '%s past a thousand a minute share a row a second, and the rows count every request',
  (_name, status, webhookId, body, statusCode) =>
    world.whileRedisAnswers(async () => {
      const project = await seedProject(world, { rateLimitPerMinute: 1 });
      await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"a":1}' });
      // As if 995 had come within the minute, so that five more have a row of their own.
      await world.redis.set(`hqrelay:repeats:{${project.id}}`, '995', 'PX', 60_000);
      const startedAt = performance.now();
      for (let batch = 0; batch < 20; batch += 1) {
        const sent = Array.from({ length: 10 }, () => postWebhook(world.url, project, { webhookId, body }));
        for (const answer of await Promise.all(sent)) expect(answer.statusCode).toBe(statusCode);
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      const rows = await waitFor('rows that count every request', async () => {
        const found = await countsOf(project.id, status);
        return found.reduce((sum, count) => sum + count, 0) === 200 && found;
      });
      expect(rows.filter((count) => count === 1).length).toBeGreaterThanOrEqual(5);
      expect(rows.length).toBeLessThanOrEqual(5 + seconds + 2);
    }),
);

async function countsOf(projectId: string, status: string): Promise<number[]> {
  const { rows } = await world.sql.query<{ request_count: number }>(
    'select request_count from webhook_logs where project_id = $1 and status::text = $2',
    [projectId, status],
  );
  return rows.map((row) => row.request_count);
}
