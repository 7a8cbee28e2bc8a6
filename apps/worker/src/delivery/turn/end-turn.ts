import { orderingKeyOf } from '../delivery.ts';
import type { Followable } from '../do-follow-up.ts';
import type { ReleaseFirst } from './take-turn.ts';

export type EndTurnDeps = {
  /** Takes the delivery out of its key; false while Postgres is unavailable. */
  leaveKey: (deliveryId: string) => Promise<boolean>;
  releaseFirst: ReleaseFirst;
};

/**
 * Ends the turn of a delivery that needs no further attempt, and releases the next of its key. While its attempt's row is
 * spilled the turn stays: without a row, a duplicate of the message would be posted after later ones. A job ends it then, and
 * after a crash or an outage.
 */
export async function endTurn(
  deps: EndTurnDeps,
  { delivery, isStored }: Pick<Followable, 'delivery' | 'isStored'>,
): Promise<void> {
  const key = orderingKeyOf(delivery);
  if (key === undefined || !isStored) return;
  const { deliveryId, endpointId } = delivery.fields;
  if (await deps.leaveKey(deliveryId)) await deps.releaseFirst(endpointId, key);
}
