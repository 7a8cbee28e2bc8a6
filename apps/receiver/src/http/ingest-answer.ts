import type { IngestResult } from '../ingest/inbound-request.ts';
import { errorAnswer, retryLater, type Answer } from './answer.ts';

/** The HTTP answer to each result of `ingest`. */
export function answerOf(result: IngestResult): Answer {
  switch (result.kind) {
    case 'queued':
      return { statusCode: 202, body: { id: result.id, status: 'queued' } };
    case 'replayed':
      return {
        statusCode: 202,
        body: { id: result.id, status: 'queued' },
        headers: { 'Idempotent-Replayed': 'true' },
      };
    case 'conflict':
      return errorAnswer(
        409,
        'webhook.conflict',
        `This id was accepted before with another body, as ${result.id}`,
      );
    case 'rate_limited':
      return errorAnswer(429, 'project.rate_limited', 'The project is over its rate limit', {
        'Retry-After': String(Math.max(1, Math.ceil(result.retryAfterMs / 1_000))),
      });
    case 'bad_request':
      return errorAnswer(400, result.code, result.message);
    case 'unauthorized':
      return errorAnswer(
        401,
        'signature.invalid',
        'The signature is missing or wrong, or there is no such project',
      );
    case 'unavailable':
      return errorAnswer(503, result.code, result.message, retryLater());
  }
}

/** The outcome as the metric and the log line name it. */
export function outcomeOf(result: IngestResult): string {
  switch (result.kind) {
    case 'replayed':
      return 'duplicate';
    case 'bad_request':
    case 'unauthorized':
      return 'rejected';
    case 'unavailable':
      return 'failed_to_queue';
    case 'queued':
    case 'conflict':
    case 'rate_limited':
      return result.kind;
  }
}
