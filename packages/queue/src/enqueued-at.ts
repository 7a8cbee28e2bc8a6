import type { MessageProperties } from 'amqplib';

type DeathTime = { time?: { value?: unknown } };

/**
 * When a message entered the queue that it was consumed from, ms since epoch, in whole seconds: when it was dead-lettered to
 * this queue (as from a delay queue), else when it was published. Undefined for a message that has no time.
 */
export function enqueuedAtOf({
  headers,
  timestamp,
}: Pick<MessageProperties, 'headers' | 'timestamp'>): number | undefined {
  const deaths = headers?.['x-death'] as DeathTime[] | undefined;
  const seconds: unknown = deaths?.[0]?.time?.value ?? timestamp;
  return typeof seconds === 'number' ? seconds * 1_000 : undefined;
}
