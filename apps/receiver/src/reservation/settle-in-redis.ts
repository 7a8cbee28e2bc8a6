import { setTimeout as wait } from 'node:timers/promises';
import { markFailed, markSeen, reservationMs } from '@hqrelay/cache/admission';
import type { Cache } from '@hqrelay/cache/client';

const settleAgainMs = 250;

/**
 * Says in Redis what became of a reservation. A Redis that has just gone is told when it is back: until then the provider's
 * retry would wait for an outcome in vain. A mark that does not arrive at all leaves a reservation that runs out: the retry
 * takes the same id over. Never rejects.
 */
export async function settleInRedis(
  cache: Cache,
  claim: Parameters<typeof markSeen>[1] & Parameters<typeof markFailed>[1],
  end: 'seen' | 'failed',
): Promise<void> {
  const giveUpAt = performance.now() + reservationMs;
  const isTold = () =>
    // What Redis itself answers, it would answer again.
    (end === 'seen' ? markSeen(cache, claim) : markFailed(cache, claim)).catch(() => true);
  while (!(await isTold()) && performance.now() < giveUpAt) {
    await wait(settleAgainMs, undefined, { ref: false });
  }
}
