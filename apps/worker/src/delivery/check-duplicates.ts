import { answerDuplicate, markWhenPublishedAgain, mustAskHistory } from '@hqrelay/domain/delivery/duplicates';
import { recordedFollowUp } from '@hqrelay/domain/delivery/follow-up';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import type { Verdict } from '@hqrelay/queue/consumer';
import { ackIfStored } from '../outgoing/ack-if-stored.ts';
import { hold, type HoldDeps } from '../outgoing/hold.ts';
import { sendLater, workQueueOf } from '../outgoing/outgoing.ts';
import type { Admitted } from './admit.ts';
import { messageOf, type Delivery } from './delivery.ts';
import type { Followable } from './do-follow-up.ts';
import type { ReadHistory } from './read-history.ts';
import type { RouteDeps } from './route.ts';

export type CheckDuplicatesDeps = HoldDeps &
  Pick<RouteDeps, 'findProject' | 'now'> & { readHistory: ReadHistory };

export type ToPost = Extract<Admitted, { kind: 'entered' }>;
export type Resumed = Followable & { kind: 'resumed' };

const busyRetryMs = 2_000;

/** May this message be posted, or held? Postgres is asked at most once, as late as possible. */
export async function checkDuplicates(
  deps: CheckDuplicatesDeps,
  admitted: Admitted,
  isInFlightHere: boolean,
): Promise<ToPost | Resumed | Verdict> {
  const { delivery, endpoint } = admitted;
  const { fields, mark } = delivery;
  const { attemptNum, notBefore } = fields;
  const isMarked = mustAskHistory({ mark, attemptNum });
  const asks = !isInFlightHere && (isMarked || (await areFirstAttemptsChecked(deps, admitted.project)));
  const history = asks ? await deps.readHistory(keyOf(delivery)) : undefined;
  switch (answerDuplicate({ attemptNum, notBefore, mark, history, isInFlightHere })) {
    case 'busy': {
      const message = messageOf(delivery, markWhenPublishedAgain(mark));
      return ackIfStored(sendLater(deps, workQueueOf(fields.lane), message, busyRetryMs));
    }
    case 'done':
      return 'ack';
    case 'resume':
      return {
        kind: 'resumed',
        delivery,
        endpoint,
        followUp: recordedFollowUp(history!),
        isResumed: true,
        isStored: true,
      };
    case 'post':
      return admitted.kind === 'to_hold'
        ? ackIfStored(hold(deps, messageOf(delivery), admitted.reason, fields.notBefore))
        : admitted;
  }
}

/** Looked up again, because a delivery may have waited for its endpoint since it was routed. */
async function areFirstAttemptsChecked(
  { findProject, now }: CheckDuplicatesDeps,
  routed: ProjectConfig,
): Promise<boolean> {
  const found = await findProject(routed.id, now());
  const { firstAttemptsCheckedUntil } = found.kind === 'found' ? found.project : routed;
  return firstAttemptsCheckedUntil !== null && firstAttemptsCheckedUntil > now();
}

export function keyOf({ envelope, fields, receivedAt }: Delivery) {
  return { webhookLogId: envelope.id, deliveryId: fields.deliveryId, receivedAt };
}
