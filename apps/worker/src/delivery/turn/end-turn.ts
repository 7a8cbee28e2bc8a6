import type { OrderingKey } from '@hqrelay/db/queries/waiting-turns';
import { deliveryId as idOfDelivery } from '@hqrelay/domain/ids';
import { orderingKeyOf, type Delivery } from '../delivery.ts';
import type { Followable } from '../do-follow-up.ts';
import type { ReleaseFirst } from './take-turn.ts';

export type EndTurnDeps = {
  /** Takes the delivery out of its key; false while Postgres is unavailable. */
  leaveKey: (deliveryId: string) => Promise<boolean>;
  /** Takes a dead letter out of its key, and returns the key; undefined where none of that is so. */
  leaveKeyAsReplayed: (deliveryId: string) => Promise<OrderingKey | undefined>;
  releaseFirst: ReleaseFirst;
};

/**
 * Ends the turn of a delivery that needs no further attempt, and releases the next of its key. While its attempt's row is
 * spilled the turn stays: without a row, a duplicate of the message would be posted after later ones. A job ends it then, and
 * after a crash or an outage. Undefined for an unordered delivery.
 */
export function endTurn(
  deps: EndTurnDeps,
  followable: Pick<Followable, 'delivery' | 'endpoint' | 'isStored'>,
): Promise<void> | undefined {
  const { delivery, isStored } = followable;
  if (delivery.fields.lane === 'replay') return endTurnOfReplayed(deps, followable);
  const key = orderingKeyOf(delivery);
  return key !== undefined && isStored ? endTurnOf(deps, delivery, key) : undefined;
}

async function endTurnOf(deps: EndTurnDeps, { fields }: Delivery, key: string): Promise<void> {
  const { deliveryId, endpointId } = fields;
  if (await deps.leaveKey(deliveryId)) await deps.releaseFirst(endpointId, key);
}

/** A dead letter whose endpoint holds its key has kept its turn until a replay of it is delivered. */
async function endTurnOfReplayed(
  deps: EndTurnDeps,
  { delivery, endpoint, isStored }: Pick<Followable, 'delivery' | 'endpoint' | 'isStored'>,
): Promise<void> {
  if (endpoint.onDeadLetter !== 'hold' || !isStored) return;
  const left = await deps.leaveKeyAsReplayed(idOfDelivery(delivery.envelope.id, endpoint.id));
  if (left) await deps.releaseFirst(left.endpointId, left.key);
}
