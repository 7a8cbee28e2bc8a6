import type { AttemptOutcome } from '@hqrelay/domain/delivery/attempt-outcome';
import type { EndpointConfig } from '@hqrelay/domain/project-config';
import type { Logger } from '@hqrelay/runtime/logger';
import { SuccessSampler } from '@hqrelay/runtime/success-sampler';
import type { Spans } from '@hqrelay/runtime/tracing/spans';
import type { Registry } from '@hqrelay/runtime/metrics';
import { Counter, Histogram } from 'prom-client';
import type { Delivery } from './delivery/delivery.ts';
import type { Attempt } from './delivery/make-attempt.ts';
import { spansOfAttempt } from './attempt-spans.ts';

export type Report = (delivery: Delivery, endpoint: EndpointConfig, attempt: Attempt) => void;

/** One log line, its metrics and its spans for each attempt: no other code logs or counts attempts. */
export function createReport(logger: Logger, registry: Registry, spans?: Spans): Report {
  const { attempts, duration, endToEnd } = createMetrics(registry);
  const successes = new SuccessSampler(Date.now);
  return (delivery, endpoint, attempt) => {
    const { exchange, outcome, followUp } = attempt;
    if (spans) for (const span of spansOfAttempt(delivery, endpoint, attempt)) spans.record(span);
    attempts.inc({ outcome: followUp.kind === 'dead_letter' ? 'dead_lettered' : outcome.kind });
    duration.observe(exchange.latencyMs / 1_000);
    const endToEndMs = Date.now() - delivery.receivedAt;
    if (outcome.kind === 'delivered' && delivery.fields.lane !== 'replay')
      endToEnd.observe(endToEndMs / 1_000);
    const isFirst = delivery.fields.attemptNum === 1 && delivery.fields.lane === 'live';
    if (isFirst && outcome.kind === 'delivered' && !successes.admits(delivery.envelope.id)) return;
    logger.info(
      {
        id: delivery.envelope.id,
        deliveryId: delivery.fields.deliveryId,
        projectId: delivery.envelope.projectId,
        endpointId: endpoint.id,
        attemptNum: delivery.fields.attemptNum,
        lane: delivery.fields.lane,
        outcome: followUp.kind === 'dead_letter' ? 'dead_lettered' : outcome.kind,
        statusCode: exchange.kind === 'response' ? exchange.statusCode : undefined,
        error: outcome.kind === 'delivered' ? undefined : outcome.error,
        nextAttemptAt: followUp.kind === 'retry' ? new Date(followUp.nextAttemptAt) : undefined,
        latencyMs: Math.round(exchange.latencyMs),
        endToEndMs,
        correlationId: delivery.envelope.correlationId,
        droppedLines: successes.takeDropped(),
      },
      'delivery.attempted',
    );
  };
}

const outcomes = ['delivered', 'failed', 'gone', 'dead_lettered'] as const satisfies (
  AttemptOutcome['kind'] | 'dead_lettered'
)[];

function createMetrics(registry: Registry) {
  const attempts = new Counter({
    name: 'hqrelay_delivery_attempts_total',
    help: 'Attempts, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter that first appears with 1 has not increased for Prometheus.
  for (const outcome of outcomes) attempts.inc({ outcome }, 0);
  return {
    attempts,
    duration: new Histogram({
      name: 'hqrelay_delivery_duration_seconds',
      help: 'How long attempts took',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers: [registry],
    }),
    endToEnd: new Histogram({
      name: 'hqrelay_end_to_end_seconds',
      help: 'From the receipt of a webhook to its delivery',
      // From a delivery at once to the last attempt of the longest schedule, after nine days.
      buckets: [
        0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600, 14_400, 86_400, 777_600,
      ],
      registers: [registry],
    }),
  };
}
