import { Redis } from 'ioredis';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { AppProcess } from '@hqrelay/services/app-process';
import type { SentWebhook } from '../../harness/load.ts';
import type { Row } from '../row.ts';

/** Debian's default: snapshots alone, of which none is due while the row runs. */
const persistence = [
  ['save', '3600 1 300 100 60 10000'],
  ['appendonly', 'no'],
] as const;
const acceptAfterSnapshotMs = 3_000;
/** Longer than a provider of the load waits before it sends an accepted webhook again. */
const quietMs = 2_000;
/** For 15 s after a connection receivers look up every id that Redis does not have. */
const sendAgainAfterMs = 16_000;
const sentAgainMin = 60;

/**
 * The receiver recognises another Redis process, whose data may be old, and looks ids up in Postgres. One project gets no
 * webhook while Redis is down: then only the new process shows that Redis has lost the project's latest ids.
 */
export const redisOldData: Row = {
  name: 'redis-old-data',
  fault:
    'Redis, with snapshots alone, is killed (`kill -9`) and started from its snapshot; 16 s later webhooks accepted after the snapshot are sent again',
  ownServers: ['redis'],
  withinMs: 80_000,
  hit: ({ faults, sentAgain }) =>
    faults.every(({ requestsInFlight }) => requestsInFlight > 0) && sentAgain >= sentAgainMin
      ? `${sentAgain} webhooks whose ids Redis had lost were sent again`
      : undefined,
  run: async (site, stage) => {
    const { load } = stage;
    const savedAt = await takeSnapshot(site.world.redisUrl);
    await stage.wait(acceptAfterSnapshotMs);
    const [quiet, ...others] = site.projects;
    load.useProjects(others);
    await stage.wait(quietMs);
    const sinceSnapshot = load.webhooks.filter(
      ({ projectId, acceptedAt = 0 }) => projectId === quiet?.id && acceptedAt > savedAt,
    );
    await stage.fault('Redis is killed, and started from its snapshot', async () => {
      await site.server('redis').kill();
      await site.server('redis').start();
      await waitFor('the receivers to use Redis', () => everyReceiverUses(site.receivers));
    });
    load.useProjects(site.projects);
    await stage.wait(sendAgainAfterMs);
    await load.sendAgain(await lostBy(site.world.redisUrl, sinceSnapshot));
  },
};

/** Returns when it was taken, by `performance.now()`. */
async function takeSnapshot(redisUrl: string): Promise<number> {
  const redis = new Redis(redisUrl);
  try {
    for (const [name, value] of persistence) await redis.config('SET', name, value);
    await redis.config('REWRITE');
    await redis.save();
    return performance.now();
  } finally {
    redis.disconnect();
  }
}

async function everyReceiverUses(receivers: readonly AppProcess[]): Promise<boolean> {
  const states = await Promise.all(
    receivers.map(async ({ url }) => {
      const { dependencies } = (await (await fetch(`${url}/health/ready`)).json()) as {
        dependencies: { redis: { state: string } };
      };
      return dependencies.redis.state;
    }),
  );
  return states.every((state) => state === 'up');
}

/** Those whose id Redis does not have. */
async function lostBy(redisUrl: string, webhooks: readonly SentWebhook[]): Promise<SentWebhook[]> {
  const redis = new Redis(redisUrl);
  try {
    const found = await Promise.all(
      webhooks.map(({ projectId, webhookId }) =>
        redis.exists(`hqrelay:idempotency:{${projectId}}:${webhookId}`),
      ),
    );
    return webhooks.filter((_, index) => found[index] === 0);
  } finally {
    redis.disconnect();
  }
}
