import type { Verdict } from '@hqrelay/queue/consumer';

/** Acknowledges a message once its follow-up is stored. */
export async function ackIfStored(stored: Promise<boolean>): Promise<Verdict> {
  return (await stored) ? 'ack' : 'requeue';
}
