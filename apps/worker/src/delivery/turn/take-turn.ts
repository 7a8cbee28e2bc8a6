import type { TurnAnswer, TurnRequest } from '@hqrelay/db/queries/ordered-turns';
import { attemptTimeoutMs } from '@hqrelay/domain/delivery/attempt-timeout';
import { markWhenPublishedAgain } from '@hqrelay/domain/delivery/duplicates';
import type { Verdict } from '@hqrelay/queue/consumer';
import { ackIfStored } from '../../outgoing/ack-if-stored.ts';
import { hold, type HoldDeps } from '../../outgoing/hold.ts';
import { sendLater, workQueueOf } from '../../outgoing/outgoing.ts';
import type { ToPost } from '../check-duplicates.ts';
import { messageOf, orderingKeyOf, type Delivery } from '../delivery.ts';

/** Undefined while Postgres is unavailable. */
export type AskForTurn = (request: TurnRequest) => Promise<TurnAnswer | undefined>;
export type LeaveTurn = (attempt: { deliveryId: string; attemptNum: number }) => Promise<void>;
/** Releases the first delivery of a key, if it is held. */
export type ReleaseFirst = (endpointId: string, key: string) => Promise<void>;

export type TakeTurnDeps = HoldDeps & {
  askForTurn: AskForTurn;
  releaseFirst: ReleaseFirst;
  /** ms; it is never set back and runs on while the process is frozen. */
  monotonicNow: () => number;
};

/** The turn of an ordered delivery. `postBefore`: after that another worker may have claimed it; of `monotonicNow`. */
export type Turn = { sequence: number; postBefore: number };

/** A delivery that is posted now; an unordered one has no turn. */
export type InTurn = ToPost & { turn?: Turn };

/** How much longer a claim is than the attempt's timeout: what the attempt may be late with its request. */
const claimSlackMs = 3_000;
const claimedRetryMs = 1_000;

/** Claims an ordered delivery that is the first of its key, or holds it behind the one before. An unordered delivery passes. */
export function takeTurn(deps: TakeTurnDeps, toPost: ToPost): ToPost | Promise<InTurn | Verdict> {
  const key = orderingKeyOf(toPost.delivery);
  return key === undefined ? toPost : takeTurnOf(deps, toPost, key);
}

async function takeTurnOf(deps: TakeTurnDeps, toPost: ToPost, key: string): Promise<InTurn | Verdict> {
  const { delivery, endpoint } = toPost;
  const startedAt = deps.monotonicNow();
  const answer = await deps.askForTurn(requestOf(delivery, attemptTimeoutMs(endpoint) + claimSlackMs));
  switch (answer?.kind) {
    case 'yours':
      return { ...toPost, turn: { sequence: answer.sequence, postBefore: startedAt + claimSlackMs } };
    case 'unordered':
      return toPost;
    case 'ended':
      return 'ack';
    case 'claimed': {
      const message = messageOf(delivery, markWhenPublishedAgain(delivery.mark));
      return ackIfStored(sendLater(deps, workQueueOf(delivery.fields.lane), message, claimedRetryMs));
    }
    // While Postgres is unavailable nothing tells which delivery is the first, so none of them is posted.
    case 'behind':
    case undefined:
      return holdBehind(deps, delivery, key);
  }
}

export function isTurnOver({ postBefore }: Turn, monotonicNow: number): boolean {
  return monotonicNow > postBefore;
}

/** The delivery before it may have ended since this worker asked, before this one was held: then this worker releases it. */
async function holdBehind(deps: TakeTurnDeps, delivery: Delivery, key: string): Promise<Verdict> {
  const isStored = await hold(deps, messageOf(delivery), 'order', delivery.fields.notBefore);
  if (isStored) await deps.releaseFirst(delivery.fields.endpointId, key);
  return isStored ? 'ack' : 'requeue';
}

function requestOf({ envelope, fields, receivedAt }: Delivery, claimMs: number): TurnRequest {
  const { deliveryId, attemptNum } = fields;
  return { deliveryId, webhookLogId: envelope.id, receivedAt, attemptNum, claimMs };
}
