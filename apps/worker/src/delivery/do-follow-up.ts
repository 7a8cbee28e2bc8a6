import { markOfNextAttempt } from '@hqrelay/domain/delivery/duplicates';
import type { FollowUp } from '@hqrelay/domain/delivery/follow-up';
import type { EndpointConfig } from '@hqrelay/domain/project-config';
import type { Verdict } from '@hqrelay/queue/consumer';
import { ackIfStored } from '../outgoing/ack-if-stored.ts';
import { hold, type HoldDeps } from '../outgoing/hold.ts';
import { delayInBrokerMaxMs, send, sendDeadLetter, sendLater, workQueueOf } from '../outgoing/outgoing.ts';
import { messageOf, type Delivery } from './delivery.ts';
import type { DisableEndpoint } from './disable-endpoint.ts';
import { endTurn, type EndTurnDeps } from './turn/end-turn.ts';

export type FollowUpDeps = HoldDeps & EndTurnDeps & { disableEndpoint: DisableEndpoint; now: () => number };

/** A delivery whose attempt is recorded. `isResumed`: another worker may have done the follow-up already. */
export type Followable = {
  delivery: Delivery;
  endpoint: EndpointConfig;
  followUp: FollowUp;
  isResumed: boolean;
  /** Whether the attempt's row is in Postgres, and not in the queue of spilled rows. */
  isStored: boolean;
};

/** Does the follow-up of a recorded attempt, then acknowledges its message. A second time it changes nothing. */
export function doFollowUp(deps: FollowUpDeps, followable: Followable): Verdict | Promise<Verdict> {
  const { followUp } = followable;
  switch (followUp.kind) {
    case 'none':
      return endTurn(deps, followable)?.then(() => 'ack') ?? 'ack';
    case 'retry':
      return ackIfStored(scheduleRetry(deps, nextAttempt(followable, followUp.nextAttemptAt)));
    case 'dead_letter':
      return ackIfStored(sendToDeadLetters(deps, followable, followUp.reason));
    case 'disable_endpoint':
      return ackIfStored(disableAndHold(deps, followable, followUp.reason));
  }
}

async function disableAndHold(deps: FollowUpDeps, followable: Followable, reason: string): Promise<boolean> {
  const { delivery, endpoint } = followable;
  await deps.disableEndpoint(delivery.envelope.projectId, endpoint.id, reason);
  const now = deps.now();
  return hold(deps, messageOf(nextAttempt(followable, now)), 'disabled', now);
}

/** Later deliveries of its key follow at once, unless the endpoint holds them until the dead letter is replayed or skipped. */
async function sendToDeadLetters(
  deps: FollowUpDeps,
  followable: Followable,
  reason: string,
): Promise<boolean> {
  const isSent = await sendDeadLetter(deps, messageOf(followable.delivery), reason);
  if (isSent && followable.endpoint.onDeadLetter === 'continue') await endTurn(deps, followable);
  return isSent;
}

function nextAttempt({ delivery, isResumed }: Followable, notBefore: number): Delivery {
  const { fields } = delivery;
  const lane = fields.lane === 'replay' ? 'replay' : 'retry';
  return {
    ...delivery,
    fields: { ...fields, lane, attemptNum: fields.attemptNum + 1, notBefore },
    mark: markOfNextAttempt({ isResumed }),
  };
}

function scheduleRetry(deps: FollowUpDeps, next: Delivery): Promise<boolean> {
  const { lane, notBefore } = next.fields;
  const remainingMs = notBefore - deps.now();
  if (remainingMs > delayInBrokerMaxMs) return hold(deps, messageOf(next), 'delay', notBefore);
  const queue = workQueueOf(lane);
  return remainingMs > 0
    ? sendLater(deps, queue, messageOf(next), remainingMs)
    : send(deps, queue, messageOf(next));
}
