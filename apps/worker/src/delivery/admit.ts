import { setTimeout as wait } from 'node:timers/promises';
import type { HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { attemptTimeoutMs } from '@hqrelay/domain/delivery/attempt-timeout';
import type { EndpointConfig } from '@hqrelay/domain/project-config';
import type { Verdict } from '@hqrelay/queue/consumer';
import type { EndpointGate, Entered, Entrance, Pass } from '../endpoint/endpoint-gate.ts';
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

/**
 * Delays a message that is not due, and enters the endpoint with one that is. A promise only where the message is delayed or
 * waits.
 */
export function admit(
  deps: AdmitDeps,
  routed: Routed,
  entrance: Entrance,
): Admitted | Promise<Admitted | Verdict> | Verdict {
  const { delivery, endpoint } = routed;
  const { fields, mark } = delivery;
  const remainingMs = fields.notBefore - deps.now();
  const reason = holdReasonOf(deps.gate, endpoint, remainingMs);
  if (reason) return { ...routed, kind: 'to_hold', reason };
  if (remainingMs > 0)
    return ackIfStored(sendLater(deps, workQueueOf(fields.lane), messageOf(delivery), remainingMs));

  // The claim of an ordered delivery keeps other workers from it.
  const waits = mark && orderingKeyOf(delivery) === undefined;
  if (!waits) return enter(routed, entrance);
  return wait(otherMessageMs * (1 + deps.random())).then(() => enter(routed, entrance));
}

/** No async function: thousands of deliveries may wait here for a busy endpoint, and each would keep a frame in memory. */
function enter(routed: Routed, entrance: Entrance): Admitted | Verdict | Promise<Admitted | Verdict> {
  const { endpoint } = routed;
  const entered = entrance.enter(endpoint.id, attemptTimeoutMs(endpoint));
  return entered instanceof Promise
    ? entered.then((pass) => admittedWith(pass, routed))
    : admittedWith(entered, routed);
}

function admittedWith(pass: Entered, { delivery, project, endpoint }: Routed): Admitted | Verdict {
  if (pass === 'stopped') return 'requeue';
  if (pass === 'shut') return { delivery, project, endpoint, kind: 'to_hold', reason: 'breaker' };
  return { delivery, project, endpoint, kind: 'entered', pass };
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
