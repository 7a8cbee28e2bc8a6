import type { Logger } from '@hqrelay/runtime/logger';
import type { NearLimit } from './limits/near-limit.ts';
import type { Registry } from '@hqrelay/runtime/metrics';
import { SuccessSampler } from '@hqrelay/runtime/success-sampler';
import type { Spans } from '@hqrelay/runtime/tracing/spans';
import type { PublishResult } from '@hqrelay/queue/publishing/publish-channel';
import { Counter, Histogram } from 'prom-client';
import { publishSpan, receiveSpan, type PublishedWebhook } from './request-spans.ts';

export type Received = {
  outcome: string;
  statusCode: number;
  projectId: string;
  id: string | undefined;
  bytes: number | undefined;
  correlationId: string;
  /** ms since epoch. */
  receivedAt: number;
  /** The provider's header. */
  traceparent: string | undefined;
  durationMs: number;
  /** False where only the metrics count the request: requests that are not verified must not fill the log. */
  isLogged: boolean;
};

export type Report = (received: Received) => void;

export type ReceiverReport = {
  nearLimit: (project: NearLimit) => void;
  received: Report;
  orderUncertain: () => void;
  published: (result: PublishResult, durationMs: number, webhook: PublishedWebhook) => void;
};

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const outcomes = [
  'queued',
  'duplicate',
  'conflict',
  'handshake',
  'rate_limited',
  'rejected',
  'failed_to_queue',
] as const;

/** Writes one log line, the metrics and the spans of each request. No other code logs or counts requests. */
export function createReport(logger: Logger, registry: Registry, spans?: Spans): ReceiverReport {
  const { received, duration, confirm, orderUncertain } = createMetrics(registry);
  const successes = new SuccessSampler(Date.now);
  return {
    nearLimit: (project) => logger.warn(project, 'project.near_limit'),
    received: (request) => {
      const { outcome, statusCode } = request;
      received.inc({ outcome });
      duration.observe(request.durationMs / 1_000);
      if (!request.isLogged) return;
      // An attacker must not fill the collector: only verified requests have spans.
      if (spans && outcome !== 'rejected' && outcome !== 'handshake') spans.record(receiveSpan(request));
      if (statusCode < 300 && !successes.admits(request.id)) return;
      const level = statusCode >= 500 ? 'warn' : 'info';
      const { projectId, id, bytes, correlationId } = request;
      const durationMs = Math.round(request.durationMs * 100) / 100;
      const droppedLines = successes.takeDropped();
      logger[level](
        { outcome, statusCode, projectId, id, bytes, correlationId, durationMs, droppedLines },
        'webhook.received',
      );
    },
    orderUncertain: () => orderUncertain.inc(),
    published: (result, durationMs, webhook) => {
      spans?.record(publishSpan(result, durationMs, webhook));
      if (result.kind === 'confirmed') confirm.observe(durationMs / 1_000);
    },
  };
}

function createMetrics(registry: Registry) {
  const received = new Counter({
    name: 'hqrelay_webhooks_received_total',
    help: 'Requests to /v1/webhooks, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter that first appears with 1 has not increased for Prometheus.
  for (const outcome of outcomes) received.inc({ outcome }, 0);
  const duration = new Histogram({
    name: 'hqrelay_receive_duration_seconds',
    help: 'From the first byte of a request to its answer',
    buckets: secondsBuckets,
    registers: [registry],
  });
  const confirm = new Histogram({
    name: 'hqrelay_publish_confirm_seconds',
    help: 'From publishing a webhook to the confirm of the broker',
    buckets: secondsBuckets,
    registers: [registry],
  });
  const orderUncertain = new Counter({
    name: 'hqrelay_order_uncertain_total',
    help: 'Ordered webhooks that were accepted without Postgres and without Redis: in the order of their receipt, as clocks agree',
    registers: [registry],
  });
  return { received, duration, confirm, orderUncertain };
}
