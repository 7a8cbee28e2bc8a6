import type { Delivery, Endpoint } from '../../api/entities.ts';

type Waiting = Pick<Delivery, 'state' | 'heldReason' | 'attempts'>;
type Target = Pick<Endpoint, 'disabledReason' | 'orderingKey'> | undefined;

/** The last change of an endpoint, from the admin log. */
export type Change = { actor: string; at: string } | undefined;

/** Why a delivery is neither delivered nor dead; undefined where it is. `at` writes a time in the reader's zone. */
export function explainWait(
  { state, heldReason, attempts }: Waiting,
  endpoint: Target,
  change: Change,
  at: (time: string) => string,
): string | undefined {
  const by = change ? ` by ${change.actor} at ${at(change.at)}` : '';
  if (state === 'waiting') {
    return attempts === 0
      ? 'Queued for its first attempt.'
      : 'The last attempt failed; the next one is scheduled.';
  }
  if (state !== 'held') return undefined;
  switch (heldReason) {
    case 'paused':
      return `Held: the endpoint is paused${by}. Resume it to deliver.`;
    case 'disabled': {
      const why = endpoint?.disabledReason;
      return `Held: the endpoint is disabled${by}${why === null || why === undefined ? '' : ` (${why})`}. Enable it to deliver.`;
    }
    case 'order':
      return `Held: an earlier webhook of the same ordering key${
        typeof endpoint?.orderingKey === 'string' ? ` (${endpoint.orderingKey})` : ''
      } is not delivered yet.`;
    case 'breaker':
      return 'Held: the endpoint failed so often that the relay gives it a rest. It is tried again by itself.';
    case 'delay':
      return 'Held until its next attempt is due.';
    case null:
      return 'Held.';
  }
}
