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
 * next phase; no phase is entered twice. Only promises are awaited: most phases have their result at once, and each await costs
 * as much memory as a small request.
 */
export async function deliver(deps: DeliverDeps, delivery: Delivery, entrance: Entrance): Promise<Verdict> {
  const routing = route(deps, delivery);
  const routed = routing instanceof Promise ? await routing : routing;
  if (isVerdict(routed)) return routed;
  const admitting = admit(deps, routed, entrance);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
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
  const checking = checkDuplicates(deps, admitted, isInFlightHere);
  const checked = checking instanceof Promise ? await checking : checking;
  if (isVerdict(checked)) return checked;
  if (checked.kind === 'resumed') return doFollowUp(deps, checked);

  const taking = takeTurn(deps, checked);
  const inTurn = taking instanceof Promise ? await taking : taking;
  if (isVerdict(inTurn)) return inTurn;
  const attempted = await makeAttempt(deps, inTurn);
  if (isVerdict(attempted)) return attempted;
  const recorded = await recordAttempt(deps, attempted);
  return isVerdict(recorded) ? recorded : doFollowUp(deps, recorded);
}

function isVerdict(result: object | Verdict): result is Verdict {
  return typeof result === 'string';
}
