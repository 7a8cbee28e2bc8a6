import { workExchange } from '@hqrelay/queue/topology';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createWorker } from '../src/worker.ts';

const queue = 'hqrelay.retries';

let world: World;
const stops: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['redis'] });
});

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

afterAll(() => world.close());

/** A worker that measures, and consumes only after `consume()`. */
async function startWorker() {
  const registry = createRegistry();
  const worker = createWorker(readConfig(world.env), {
    logger: createLogger({ name: 'worker', level: 'silent' }, { write: () => {} }),
    registry,
    refuse: (reason) => {
      throw new Error(reason);
    },
    now: Date.now,
    random: () => 0,
  });
  const { stores, intake } = worker.parts;
  stops.push(stores.stop);
  await stores.start();
  await waitFor('the stores', () =>
    [worker.postgres, worker.cache, worker.publisher].every(({ health }) => health.isUp),
  );
  const measured = async () => {
    await worker.jobs.measureBacklog.run();
    const { values } = (await registry.getSingleMetric('hqrelay_queue_oldest_age_seconds')?.get()) ?? {};
    return values?.find(({ labels }) => labels.queue === queue)?.value;
  };
  const consume = async () => {
    stops.push(intake.stop);
    await intake.start();
  };
  /** Bytes that no worker can read: they are parked. */
  const publish = (bytes: number) =>
    worker.publisher.publish({ exchange: workExchange, routingKey: queue, body: Buffer.alloc(bytes) });
  return { ...worker, measured, consume, publish };
}

describe('hqrelay_queue_oldest_age_seconds', () => {
  it.each([
    { size: 'small', bytes: 10 },
    { size: 'large', bytes: 100_000 },
  ])(
    'every worker reports the same age of a $size message, until a worker consumes it',
    async ({ bytes }) => {
      const [one, other] = await Promise.all([startWorker(), startWorker()]);
      expect(await one.measured()).toBe(0);
      expect(await other.measured()).toBe(0);
      const emptyAt = Date.now();
      await one.publish(bytes);
      const age = await waitFor('the age to grow', async () => {
        const measured = (await one.measured()) ?? 0;
        return measured > 1.5 && measured;
      });
      expect(age).toBeLessThanOrEqual((Date.now() - emptyAt) / 1_000 + 1);
      // A worker that starts now has consumed nothing.
      const third = await startWorker();
      for (const { measured } of [other, third]) expect(await measured()).toBeGreaterThanOrEqual(age);
      await other.consume();
      await waitFor('the queue to be empty', async () => (await one.measured()) === 0);
      expect(await other.measured()).toBe(0);
    },
    300_000,
  );
});
