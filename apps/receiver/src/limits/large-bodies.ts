import { ByteSemaphore } from '@hqrelay/flow/byte-semaphore';
import { smallMessageBytesMax } from '@hqrelay/queue/topology';
import type { InboundRequest } from '../ingest/inbound-request.ts';

export const largeBodyBytesMax = 8 << 20;
/**
 * Bounds the large bodies that this process makes durable at once. Each is in memory up to four times meanwhile: as received, as
 * encoded, and in the sockets to both stores. Many at once would also be late at the stores, which take them one by one.
 */
export const largeBodies = new ByteSemaphore(largeBodyBytesMax);
/** Leaves time for the stores before the answer is due. */
const turnWithinMs = 1_500;

/** Runs `work` at once for a small body, and for a large one when those before it leave room; or says why it did not. */
export async function inTurn<T>(
  request: Pick<InboundRequest, 'body' | 'onEnded'>,
  work: () => Promise<T>,
): Promise<T | { kind: 'failed'; reason: string }> {
  const bytes = request.body.length;
  if (bytes <= smallMessageBytesMax) return work();
  const patience = patienceOf(request);
  const begin = () => {
    patience.end();
    return work();
  };
  const outcome = await largeBodies.run(bytes, begin, patience.signal);
  return outcome ?? { kind: 'failed', reason: String(patience.signal.reason) };
}

/**
 * `signal` aborts with the reason when the sender closes the connection, and when the time for a turn is over, unless `end` is
 * called before.
 */
function patienceOf(request: Pick<InboundRequest, 'onEnded'>): { signal: AbortSignal; end: () => void } {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort('too many large bodies at once'), turnWithinMs);
  request.onEnded(() => patience.abort('the sender closed the connection'));
  return { signal: patience.signal, end: () => clearTimeout(timer) };
}
