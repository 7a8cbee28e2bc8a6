import type { AppProcess } from '@hqrelay/testing/app-process';

/**
 * How many messages these workers published from the outbox, by their logs. Where a busy machine made the broker's confirm late, the
 * queue and the outbox both had the message, and its webhook may arrive twice.
 */
export function drainedMessages(...workers: readonly AppProcess[]): number {
  return workers
    .flatMap(({ logs }) => logs.filter(({ msg }) => msg === 'outbox.drained'))
    .reduce((sum, { count }) => sum + Number(count), 0);
}
