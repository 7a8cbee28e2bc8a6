import type { HandshakeReply } from '@hqrelay/domain/providers/handshake';
import type { IngestResult } from '../ingest/inbound-request.ts';
import { errorAnswer, retryLater, type Answer } from './answer.ts';

/** The HTTP answer to each result of `ingest`. */
export function answerOf(result: IngestResult): Answer {
  switch (result.kind) {
    case 'queued':
      return acceptedAnswer(result);
    case 'replayed':
      return { ...acceptedAnswer(result), headers: { 'Idempotent-Replayed': 'true' } };
    case 'handshake':
      return handshakeAnswer(result.reply);
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

/** 202 with the id, unless the provider wants another status or text. */
function acceptedAnswer({ id, accepted }: Extract<IngestResult, { accepted: unknown }>): Answer {
  const statusCode = accepted?.status ?? 202;
  if (accepted?.text === undefined) return { statusCode, body: { id, status: 'queued' } };
  const contentType = accepted.text === '' ? null : 'text/plain';
  return { statusCode, raw: { contentType, bytes: Buffer.from(accepted.text) } };
}

/** Never to be taken for HTML: a part of it came from the sender. */
function handshakeAnswer({ status, contentType, body }: HandshakeReply): Answer {
  const raw = { contentType, bytes: body };
  return { statusCode: status, raw, headers: { 'X-Content-Type-Options': 'nosniff' } };
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
    case 'handshake':
    case 'rate_limited':
      return result.kind;
  }
}
