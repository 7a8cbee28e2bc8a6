import {
  judgeAttempt,
  type AttemptOutcome,
  type HttpExchange,
} from '@hqrelay/domain/delivery/attempt-outcome';
import { followUpOf, type FollowUp } from '@hqrelay/domain/delivery/follow-up';
import { newId } from '@hqrelay/domain/ids';
import type { Verdict } from '@hqrelay/queue/consumer';
import type { HealthSignal } from '../endpoint/endpoint-gate.ts';
import type { Report } from '../report.ts';
import { attemptTimeoutMs } from '@hqrelay/domain/delivery/attempt-timeout';
import { postWebhook, type PostWebhookDeps } from './post-webhook.ts';
import type { Routed } from './route.ts';
import { isTurnOver, type InTurn, type LeaveTurn } from './turn/take-turn.ts';

export type MakeAttemptDeps = PostWebhookDeps & {
  report: Report;
  leaveTurn: LeaveTurn;
  monotonicNow: () => number;
  now: () => number;
  random: () => number;
};

export type Attempt = {
  /** UUIDv7; its time is when the attempt began. */
  id: string;
  exchange: HttpExchange;
  outcome: AttemptOutcome;
  followUp: FollowUp;
};

export type Attempted = Routed & { attempt: Attempt };

/** Posts the webhook, leaves the endpoint, and decides the follow-up. */
export async function makeAttempt(deps: MakeAttemptDeps, toPost: InTurn): Promise<Attempted | Verdict> {
  const { pass, delivery, project, endpoint, turn } = toPost;
  // This process was frozen since it claimed the delivery: another worker may post it now.
  if (turn && isTurnOver(turn, deps.monotonicNow())) return 'requeue';
  const startedAt = deps.now();
  const id = newId(startedAt);
  const exchange = await postWebhook(deps, toPost, { id, startedAt });
  pass.leave(healthSignalOf(exchange));
  // This worker stops, and another worker makes the same attempt.
  if (exchange.kind === 'error' && exchange.code === 'ABORTED') {
    if (turn) await deps.leaveTurn(delivery.fields);
    return 'requeue';
  }
  const endedAt = deps.now();
  const outcome = judgeAttempt(exchange, { now: endedAt, timeoutMs: attemptTimeoutMs(endpoint) });
  const followUp = followUpOf({
    outcome,
    schedule: endpoint.retrySchedule,
    attemptNum: delivery.fields.attemptNum,
    now: endedAt,
    random: deps.random,
  });
  const attempt = { id, exchange, outcome, followUp };
  deps.report(delivery, endpoint, attempt);
  return { delivery, project, endpoint, attempt };
}

/** An endpoint that refuses a webhook with a 4xx works, also with a 410, after which it is disabled. */
function healthSignalOf(exchange: HttpExchange): HealthSignal {
  if (exchange.kind === 'error') return exchange.code === 'ABORTED' ? 'none' : 'fails';
  return exchange.statusCode >= 500 || exchange.statusCode === 429 ? 'fails' : 'works';
}
