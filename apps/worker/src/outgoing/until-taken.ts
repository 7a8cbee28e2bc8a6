import { setTimeout as wait } from 'node:timers/promises';

const everyMs = 2_000;
const triesMax = 150;

/**
 * Tries again while neither store takes something, for five minutes. The message it belongs to stays unacknowledged
 * meanwhile: given back at once it would only come again, and each time counts against its delivery limit.
 */
export async function untilTaken(attempt: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    if (await attempt()) return true;
    if (tries === triesMax) return false;
    await wait(everyMs);
  }
}
