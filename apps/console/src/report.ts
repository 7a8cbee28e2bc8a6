import type { Logger } from '@hqrelay/runtime/logger';
import { Counter, Histogram, type Registry } from 'prom-client';

/** One request of the API that was answered. */
export type AnsweredRequest = {
  /** The operation of the OpenAPI document, or `unknown`. */
  operation: string;
  statusCode: number;
  durationMs: number;
  /** The caller; both are absent where the request was refused before. */
  apiKeyId: string | undefined;
  sessionId: string | undefined;
  correlationId: string;
  /** The code of an error. */
  code: string | undefined;
};

export type Report = (request: AnsweredRequest) => void;

/** Writes one log line for each request, and counts it. */
export function createReport(logger: Logger, registry: Registry): Report {
  const requests = new Counter({
    name: 'hqrelay_api_requests_total',
    help: 'Requests of the HTTP API by operation and status code',
    labelNames: ['operation', 'status_code'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'hqrelay_api_request_duration_seconds',
    help: 'Time from a request of the HTTP API to its answer',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  return (request) => {
    requests.inc({ operation: request.operation, status_code: request.statusCode });
    duration.observe(request.durationMs / 1_000);
    logger.info(request, 'api.requested');
  };
}
