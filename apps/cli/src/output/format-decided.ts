import type { Delivery } from '@hqrelay/db/queries/deliveries';

/** A delivery as a decision left it, for people. */
export function formatDecided({
  deliveryId,
  webhookLogId,
  state,
  attempts,
  nextAttemptAt,
}: Delivery): string {
  const next = nextAttemptAt === null ? '' : `, the next attempt is due at ${nextAttemptAt.toISOString()}`;
  return `The delivery ${deliveryId} is ${state} after ${attempts} attempts${next}.\n\nhqrelay webhook show ${webhookLogId} shows it.`;
}
