import { setTimeout as wait } from 'node:timers/promises';

const everyMs = 2_000;
const triesMax = 150;

/**
 * Tries again for five minutes while no store takes an item. Its message stays unacknowledged meanwhile: the broker would
 * redeliver a requeued message at once, and each requeue counts towards the delivery limit.
 */
export async function retryUntilStored(store: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    if (await store()) return true;
    if (tries === triesMax) return false;
    await wait(everyMs);
  }
}
