import type { AuditRecorder, RecordOutcome } from '@hqrelay/audit/audit-recorder';
import type { DeliveryAttemptRow } from '@hqrelay/db/queries/append-audit';
import { answerDuplicate } from '@hqrelay/domain/delivery/duplicates';
import { recordedFollowUp, type FollowUp } from '@hqrelay/domain/delivery/follow-up';
import type { Verdict } from '@hqrelay/queue/consumer';
import { retryUntilStored } from '../outgoing/retry-until-stored.ts';
import { keyOf } from './check-duplicates.ts';
import type { Delivery } from './delivery.ts';
import type { Followable } from './do-follow-up.ts';
import type { Attempt, Attempted } from './make-attempt.ts';
import type { ReadHistory } from './read-history.ts';

export type RecordAttemptDeps = { recorder: AuditRecorder; readHistoryOfAnyTime: ReadHistory };

/** Records the attempt. Its follow-up comes after the row, so that a crash between them can be resumed. */
export async function recordAttempt(
  deps: RecordAttemptDeps,
  attempted: Attempted,
): Promise<Followable | Verdict> {
  const { delivery, endpoint, attempt } = attempted;
  const row = rowOf(delivery, attempt);
  const first = await deps.recorder.record({ kind: 'attempt', attempt: row });
  const outcome = first === 'unavailable' ? await recordUntilStored(deps.recorder, row) : first;
  switch (outcome) {
    case 'unavailable':
      return 'requeue';
    case 'overtaken':
      return resumeOvertaken(deps, attempted);
    case 'stored':
    case 'spilled':
      return {
        delivery,
        endpoint,
        followUp: attempt.followUp,
        isResumed: false,
        isStored: outcome === 'stored',
      };
  }
}

async function recordUntilStored(
  recorder: AuditRecorder,
  attempt: DeliveryAttemptRow,
): Promise<RecordOutcome> {
  let outcome: RecordOutcome = 'unavailable';
  await retryUntilStored(async () => {
    outcome = await recorder.record({ kind: 'attempt', attempt });
    return outcome !== 'unavailable';
  });
  return outcome;
}

/**
 * Another worker recorded this attempt and owns the follow-up. If this message was redelivered, that worker may have crashed
 * first, so resume by its row: it is found by its key, because its time is of another clock.
 */
async function resumeOvertaken(
  { readHistoryOfAnyTime }: RecordAttemptDeps,
  { delivery, endpoint, attempt }: Attempted,
): Promise<Followable | Verdict> {
  const { mark, fields } = delivery;
  if (mark !== 'resume_if_recorded') return 'ack';
  const history = await readHistoryOfAnyTime(keyOf(delivery));
  if (!history) return 'requeue';
  const { attemptNum, notBefore } = fields;
  const answer = answerDuplicate({ attemptNum, notBefore, mark, history, isInFlightHere: false });
  if (answer === 'done') return 'ack';
  const followUp = answer === 'resume' ? recordedFollowUp(history) : attempt.followUp;
  return { delivery, endpoint, followUp, isResumed: true, isStored: true };
}

function rowOf(
  { envelope, fields }: Delivery,
  { id, exchange, outcome, followUp }: Attempt,
): DeliveryAttemptRow {
  return {
    id,
    deliveryId: fields.deliveryId,
    webhookLogId: envelope.id,
    projectId: envelope.projectId,
    endpointId: fields.endpointId,
    lane: fields.lane,
    attemptNum: fields.attemptNum,
    status: statusOf(followUp),
    statusCode: exchange.kind === 'response' ? exchange.statusCode : null,
    latencyMs: Math.round(exchange.latencyMs),
    error: outcome.kind === 'delivered' ? null : outcome.error,
    responseBody: exchange.kind === 'response' ? textOf(exchange.bodyHead) : null,
    correlationId: envelope.correlationId,
    nextAttemptAt: followUp.kind === 'retry' ? followUp.nextAttemptAt : null,
  };
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

function statusOf(followUp: FollowUp): DeliveryAttemptRow['status'] {
  switch (followUp.kind) {
    case 'none':
      return 'delivered';
    case 'dead_letter':
      return 'dead_lettered';
    case 'retry':
    case 'disable_endpoint':
      return 'failed';
  }
}
