import { hash } from 'node:crypto';
import { claimApiAnswer, releaseApiAnswer, storeApiAnswer } from '@hqrelay/db/queries/api-answers';
import { open, parseSecretKeys, seal, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import { isAboutRows } from '@hqrelay/db/postgres';
import type { Request, Response } from 'express';
import type { ErrorAnswer } from './answer.ts';
import type { RequestContext } from './request-context.ts';
import type { RouteAnswer } from './serve-route.ts';

/** Longer than a request may take. */
const underWayMaxMs = 60_000;
const form = /^[\x21-\x7e]{1,255}$/;

type Claimed = { idempotencyKey: string; request: Request; response: Response };

/**
 * Runs a POST once for its `Idempotency-Key` within 24 hours; the same request again gets the same answer. When the first one ended
 * without an answer (the process crashed, or Postgres broke off), its effect is unknown: the key is refused, never run twice.
 */
export async function answerOnce(
  context: RequestContext,
  { idempotencyKey, request, response }: Claimed,
  answer: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  if (!form.test(idempotencyKey)) {
    return refusal(
      400,
      'idempotency_key.invalid',
      'An Idempotency-Key has 1 to 255 visible ASCII characters',
    );
  }
  const id = { callerId: context.caller.id, idempotencyKey };
  const requestSha256 = hash(
    'sha256',
    JSON.stringify([request.method, request.originalUrl, request.body ?? {}]),
  );
  const earlier = await claimApiAnswer(context.pool, { ...id, requestSha256 });
  if (earlier) {
    if (earlier.requestSha256 !== requestSha256) {
      return refusal(409, 'idempotency_key.reused', 'This Idempotency-Key was used for another request');
    }
    const repeated = repeat(context, earlier, id);
    if (repeated.kind === 'json') response.set('Idempotent-Replayed', 'true');
    return repeated;
  }
  return runAndStore(context, id, answer);
}

type Id = { callerId: string; idempotencyKey: string };

async function runAndStore(
  { pool, secretsKey }: RequestContext,
  id: Id,
  answer: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  let given: RouteAnswer;
  try {
    given = await answer();
  } catch (error) {
    // Postgres refused the statement and rolled back, so that nothing has happened.
    if (isAboutRows(error)) await releaseApiAnswer(pool, id);
    throw error;
  }
  if (given.kind === 'error') await releaseApiAnswer(pool, id);
  else if (given.kind === 'json') {
    const text = JSON.stringify({ body: given.body, warnings: given.warnings });
    const { sealed, keyId } = seal(parseSecretKeys(secretsKey), text, rowOf(id));
    await storeApiAnswer(pool, { ...id, statusCode: given.statusCode, sealedAnswer: sealed, keyId });
  }
  return given;
}

function repeat(
  { secretsKey, now }: RequestContext,
  earlier: NonNullable<Awaited<ReturnType<typeof claimApiAnswer>>>,
  id: Id,
): RouteAnswer {
  const { statusCode, sealedAnswer, keyId, createdAt } = earlier;
  if (statusCode === null || sealedAnswer === null || keyId === null) {
    return now() - createdAt.getTime() < underWayMaxMs
      ? refusal(409, 'idempotency_key.in_use', 'The first request with this Idempotency-Key is under way', {
          'Retry-After': '1',
        })
      : refusal(
          409,
          'idempotency_key.outcome_unknown',
          'The first request with this Idempotency-Key ended without an answer: look for its effect, then use a new key',
        );
  }
  try {
    const text = open(parseSecretKeys(secretsKey), { sealed: sealedAnswer, keyId }, rowOf(id));
    const { body, warnings } = JSON.parse(text) as { body: unknown; warnings: string[] };
    return { kind: 'json', statusCode, body, warnings };
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    return refusal(
      409,
      'idempotency_key.answer_unreadable',
      'The first request succeeded; its answer was sealed with a key that HQRELAY_SECRETS_KEY does not list any more',
    );
  }
}

function rowOf({ callerId, idempotencyKey }: Id): string {
  return `api_answers:${callerId}:${idempotencyKey}`;
}

function refusal(
  statusCode: number,
  code: string,
  message: string,
  headers?: ErrorAnswer['headers'],
): RouteAnswer {
  return { kind: 'error', statusCode, code, message, ...(headers && { headers }) };
}
