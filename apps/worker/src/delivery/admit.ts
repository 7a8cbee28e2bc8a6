import { setTimeout as wait } from 'node:timers/promises';
import type { HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { attemptTimeoutMs } from '@hqrelay/domain/delivery/attempt-timeout';
import type { EndpointConfig } from '@hqrelay/domain/project-config';
import type { Verdict } from '@hqrelay/queue/consumer';
import type { EndpointGate, Entrance, Pass } from '../endpoint/endpoint-gate.ts';
import { ackIfStored } from '../outgoing/ack-if-stored.ts';
import { delayInBrokerMaxMs, sendLater, workQueueOf, type OutgoingDeps } from '../outgoing/outgoing.ts';
import { messageOf, orderingKeyOf } from './delivery.ts';
import type { Routed } from './route.ts';

export type AdmitDeps = OutgoingDeps & {
  gate: EndpointGate;
  now: () => number;
  random: () => number;
};

/** A delivery that entered its endpoint, or that has to be held. */
export type Admitted = (Routed & { kind: 'entered'; pass: Pass }) | ToHold;
type ToHold = Routed & { kind: 'to_hold'; reason: HoldReason };

/**
 * Another worker may be posting a duplicate of a marked message now. Most endpoints answer within this time, and then the
 * attempt has its row. The wait is random, because two workers that check two duplicates at once would both find no row.
 */
const otherMessageMs = 300;

/** Delays a message that is not due, and enters the endpoint with one that is. */
export async function admit(
  deps: AdmitDeps,
  routed: Routed,
  entrance: Entrance,
): Promise<Admitted | Verdict> {
  const { delivery, endpoint } = routed;
  const { fields, mark } = delivery;
  const remainingMs = fields.notBefore - deps.now();
  const reason = holdReasonOf(deps.gate, endpoint, remainingMs);
  if (reason) return { ...routed, kind: 'to_hold', reason };
  if (remainingMs > 0)
    return ackIfStored(sendLater(deps, workQueueOf(fields.lane), messageOf(delivery), remainingMs));

  // The claim of an ordered delivery keeps other workers from it.
  if (mark && orderingKeyOf(delivery) === undefined) await wait(otherMessageMs * (1 + deps.random()));
  const pass = await entrance.enter(endpoint.id, attemptTimeoutMs(endpoint));
  if (pass === 'stopped') return 'requeue';
  if (pass === 'shut') return { ...routed, kind: 'to_hold', reason: 'breaker' };
  return { delivery, project: routed.project, endpoint, kind: 'entered', pass: leftOnce(pass) };
}

function holdReasonOf(
  gate: EndpointGate,
  endpoint: EndpointConfig,
  remainingMs: number,
): HoldReason | undefined {
  if (!endpoint.enabled) return 'disabled';
  if (endpoint.paused) return 'paused';
  if (remainingMs > delayInBrokerMaxMs) return 'delay';
  return remainingMs <= 0 && gate.isShut(endpoint.id) ? 'breaker' : undefined;
}

/** A pass whose `leave` takes effect once: later calls are ignored. */
function leftOnce(pass: Pass): Pass {
  let isLeft = false;
  return {
    leave: (signal) => {
      if (!isLeft) pass.leave(signal);
      isLeft = true;
    },
  };
}
