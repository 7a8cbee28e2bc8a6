import type { AuditRecorder, RecordOutcome } from '@hqrelay/audit/audit-recorder';
import type { AttemptOutcome, HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import type { Conclusion } from './conclude-attempt.ts';
import type { Delivery } from './delivery.ts';
import { untilTaken } from '../outgoing/until-taken.ts';

export type Attempt = {
  /** UUIDv7; its time is when the attempt began. */
  id: string;
  exchange: HttpExchange;
  outcome: AttemptOutcome;
  conclusion: Conclusion;
};

/** Records the attempt before anything follows from it. `unavailable` when no store takes it: the message is to be given back. */
export async function recordAttempt(
  deps: { recorder: AuditRecorder },
  { envelope, fields }: Delivery,
  { id, exchange, outcome, conclusion }: Attempt,
): Promise<RecordOutcome> {
  const attempt = {
    id,
    deliveryId: fields.deliveryId,
    webhookLogId: envelope.id,
    projectId: envelope.projectId,
    endpointId: fields.endpointId,
    lane: fields.lane,
    attemptNum: fields.attemptNum,
    status: statusOf(conclusion),
    statusCode: exchange.kind === 'response' ? exchange.statusCode : null,
    latencyMs: Math.round(exchange.latencyMs),
    error: outcome.kind === 'delivered' ? null : outcome.error,
    responseBody: exchange.kind === 'response' ? Buffer.from(exchange.bodyHead).toString('utf8') : null,
    correlationId: envelope.correlationId,
    nextAttemptAt: conclusion.kind === 'retry' ? conclusion.nextAttemptAt : null,
  };
  let recorded = 'unavailable' as RecordOutcome;
  await untilTaken(async () => {
    recorded = await deps.recorder.record({ kind: 'attempt', attempt });
    return recorded !== 'unavailable';
  });
  return recorded;
}

function statusOf(conclusion: Conclusion): 'delivered' | 'failed' | 'dead_lettered' {
  switch (conclusion.kind) {
    case 'delivered':
      return 'delivered';
    case 'dead_letter':
      return 'dead_lettered';
    case 'retry':
    case 'gone':
      return 'failed';
  }
}
