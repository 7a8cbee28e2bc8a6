import { setTimeout as wait } from 'node:timers/promises';

const everyMs = 2_000;
const triesMax = 150;

/**
 * Tries again while no store takes something, for five minutes. Its message stays unacknowledged meanwhile: a requeue would
 * bring it back at once, and each requeue counts towards the delivery limit.
 */
export async function retryUntilStored(store: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    if (await store()) return true;
    if (tries === triesMax) return false;
    await wait(everyMs);
  }
}
