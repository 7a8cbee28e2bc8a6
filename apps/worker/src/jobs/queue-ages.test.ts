import { Cache } from '@hqrelay/cache/client';
import { afterAll, describe, expect, it } from 'vitest';
import { createMeasureQueueAges } from './queue-ages.ts';

const queue = 'hqrelay.webhooks';
/** Never started: what a worker measures while Redis is unavailable. */
const cache = new Cache({ url: 'redis://127.0.0.1:1', name: 'test', onChange: () => {} });

afterAll(() => cache.redis.disconnect());

function openQueue() {
  const clock = { at: 1_000_000 };
  const consumer: { name: string; newestEnqueuedAt: number | undefined } = {
    name: queue,
    newestEnqueuedAt: undefined,
  };
  const measure = createMeasureQueueAges({ cache, consumers: [consumer], now: () => clock.at });
  const ageAt = async (depth: number | undefined, at: number) => {
    clock.at = at;
    const depths = depth === undefined ? undefined : new Map([[queue, depth]]);
    return (await measure(depths, at)).get(queue);
  };
  return { consumer, ageAt };
}

describe('the age of the oldest message in a queue', () => {
  it('an empty queue has the age 0', async () => {
    const { ageAt, consumer } = openQueue();
    consumer.newestEnqueuedAt = 400_000;
    expect(await ageAt(0, 1_000_000)).toBe(0);
  });

  it('messages that wait are as old as the newest message that was consumed', async () => {
    const { ageAt, consumer } = openQueue();
    consumer.newestEnqueuedAt = 940_000;
    expect(await ageAt(5, 1_000_000)).toBe(60_000);
    consumer.newestEnqueuedAt = 1_000_000;
    expect(await ageAt(5, 1_001_000)).toBe(1_000);
  });

  it('a message that follows a quiet hour is no older than the last time the queue was empty', async () => {
    const { ageAt, consumer } = openQueue();
    consumer.newestEnqueuedAt = 1_000_000;
    await ageAt(0, 4_600_000);
    expect(await ageAt(1, 4_605_000)).toBe(5_000);
  });

  it('the age of messages that no worker consumes grows', async () => {
    const { ageAt } = openQueue();
    await ageAt(0, 1_000_000);
    expect(await ageAt(3, 1_005_000)).toBe(5_000);
    expect(await ageAt(3, 1_065_000)).toBe(65_000);
  });

  it('the age of messages that waited grows while the broker does not answer', async () => {
    const { ageAt } = openQueue();
    await ageAt(0, 1_000_000);
    await ageAt(3, 1_005_000);
    expect(await ageAt(undefined, 1_060_000)).toBe(60_000);
  });

  it('a worker that starts beside a backlog counts its age from the first measurement', async () => {
    const { ageAt } = openQueue();
    expect(await ageAt(3, 1_000_000)).toBe(0);
    expect(await ageAt(3, 1_030_000)).toBe(30_000);
  });
});
