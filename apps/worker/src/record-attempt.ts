import type { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import type { AttemptOutcome, HttpExchange } from '@hqrelay/domain/attempt-outcome';
import type { Conclusion } from './conclude-attempt.ts';
import type { Delivery } from './delivery.ts';

export type Attempt = {
  /** UUIDv7; its time is when the attempt began. */
  id: string;
  exchange: HttpExchange;
  outcome: AttemptOutcome;
  conclusion: Conclusion;
};

const triesMax = 20;
const retryAfterMs = 1_500;

/**
 * Records the attempt before anything follows from it. With neither store there, the message stays unacknowledged while
 * it is tried again: giving it back at once would only send the webhook again. False when it is time to give it back.
 */
export async function recordAttempt(
  deps: { recorder: AuditRecorder },
  { envelope, fields }: Delivery,
  { id, exchange, outcome, conclusion }: Attempt,
): Promise<boolean> {
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
  for (let tries = 1; ; tries += 1) {
    if ((await deps.recorder.record({ kind: 'attempt', attempt })) !== 'unavailable') return true;
    if (tries === triesMax) return false;
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
  }
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
