import type { Verdict } from '@hqrelay/queue/consumer';
import type { Entrance } from '../endpoint/endpoint-gate.ts';
import { admit, type AdmitDeps, type Admitted } from './admit.ts';
import { checkDuplicates, type CheckDuplicatesDeps } from './check-duplicates.ts';
import type { Delivery } from './delivery.ts';
import { doFollowUp, type FollowUpDeps } from './do-follow-up.ts';
import { makeAttempt, type MakeAttemptDeps } from './make-attempt.ts';
import { recordAttempt, type RecordAttemptDeps } from './record-attempt.ts';
import { takeTurn, type TakeTurnDeps } from './turn/take-turn.ts';
import { route, type RouteDeps } from './route.ts';

export type DeliverDeps = RouteDeps &
  AdmitDeps &
  CheckDuplicatesDeps &
  TakeTurnDeps &
  MakeAttemptDeps &
  RecordAttemptDeps &
  FollowUpDeps & {
    /** The deliveries that this worker has admitted: it never posts two messages of one delivery at once. */
    inFlight: Set<string>;
  };

/**
 * One message of one delivery, phase by phase. A phase ends the message with a verdict, or its result is the input of the
 * next phase; no phase is entered twice.
 */
export async function deliver(deps: DeliverDeps, delivery: Delivery, entrance: Entrance): Promise<Verdict> {
  const routed = await route(deps, delivery);
  if (isVerdict(routed)) return routed;
  const admitted = await admit(deps, routed, entrance);
  if (isVerdict(admitted)) return admitted;

  const { deliveryId } = delivery.fields;
  const isInFlightHere = deps.inFlight.has(deliveryId);
  deps.inFlight.add(deliveryId);
  try {
    return await deliverAdmitted(deps, admitted, isInFlightHere);
  } finally {
    if (!isInFlightHere) deps.inFlight.delete(deliveryId);
    if (admitted.kind === 'entered') admitted.pass.leave('none');
  }
}

async function deliverAdmitted(
  deps: DeliverDeps,
  admitted: Admitted,
  isInFlightHere: boolean,
): Promise<Verdict> {
  const checked = await checkDuplicates(deps, admitted, isInFlightHere);
  if (isVerdict(checked)) return checked;
  if (checked.kind === 'resumed') return doFollowUp(deps, checked);

  const inTurn = await takeTurn(deps, checked);
  if (isVerdict(inTurn)) return inTurn;
  const attempted = await makeAttempt(deps, inTurn);
  if (isVerdict(attempted)) return attempted;
  const recorded = await recordAttempt(deps, attempted);
  return isVerdict(recorded) ? recorded : doFollowUp(deps, recorded);
}

function isVerdict(result: object | Verdict): result is Verdict {
  return typeof result === 'string';
}
