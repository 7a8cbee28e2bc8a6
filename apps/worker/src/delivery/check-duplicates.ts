import {
  answerDuplicate,
  markWhenPublishedAgain,
  mustAskHistory,
  type DeliveryHistory,
} from '@hqrelay/domain/delivery/duplicates';
import { recordedFollowUp } from '@hqrelay/domain/delivery/follow-up';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
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

type Checked = ToPost | Resumed | Verdict;

/**
 * May this message be posted, or held? Postgres is asked at most once, as late as possible. A promise only where Postgres is
 * asked, or the message is not posted.
 */
export function checkDuplicates(
  deps: CheckDuplicatesDeps,
  admitted: Admitted,
  isInFlightHere: boolean,
): Checked | Promise<Checked> {
  const { mark, fields } = admitted.delivery;
  if (isInFlightHere) return checkedBy(deps, admitted, { history: undefined, isInFlightHere });
  const asks =
    mustAskHistory({ mark, attemptNum: fields.attemptNum }) ||
    areFirstAttemptsChecked(deps, admitted.project);
  if (asks !== false) return askHistory(deps, admitted, asks);
  return checkedBy(deps, admitted, { history: undefined, isInFlightHere });
}

async function askHistory(
  deps: CheckDuplicatesDeps,
  admitted: Admitted,
  asks: true | Promise<boolean>,
): Promise<Checked> {
  const history = (await asks) ? await deps.readHistory(keyOf(admitted.delivery)) : undefined;
  return checkedBy(deps, admitted, { history, isInFlightHere: false });
}

function checkedBy(
  deps: CheckDuplicatesDeps,
  admitted: Admitted,
  { history, isInFlightHere }: { history: DeliveryHistory | undefined; isInFlightHere: boolean },
): Checked | Promise<Checked> {
  const { delivery, endpoint } = admitted;
  const { fields, mark } = delivery;
  const { attemptNum, notBefore } = fields;
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
function areFirstAttemptsChecked(
  { findProject, now }: CheckDuplicatesDeps,
  routed: ProjectConfig,
): boolean | Promise<boolean> {
  const areChecked = (found: ProjectLookup) => {
    const { firstAttemptsCheckedUntil } = found.kind === 'found' ? found.project : routed;
    return firstAttemptsCheckedUntil !== null && firstAttemptsCheckedUntil > now();
  };
  const found = findProject(routed.id, now());
  return found instanceof Promise ? found.then(areChecked) : areChecked(found);
}

export function keyOf({ envelope, fields, receivedAt }: Delivery) {
  return { webhookLogId: envelope.id, deliveryId: fields.deliveryId, receivedAt };
}
