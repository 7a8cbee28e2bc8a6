import type { Queryable } from '../queryable.ts';

/** `callerId` is the id of an API key or of a session. */
type AnswerId = { callerId: string; idempotencyKey: string };

export type ApiAnswer = {
  requestSha256: string;
  /** The three are null until the request has its answer. */
  statusCode: number | null;
  sealedAnswer: string | null;
  keyId: string | null;
  createdAt: Date;
};

const retention = `interval '24 hours'`;

/** Null when the caller now owns the idempotency key; else the earlier request of the same one. */
export async function claimApiAnswer(
  client: Queryable,
  { callerId, idempotencyKey, requestSha256 }: AnswerId & { requestSha256: string },
): Promise<ApiAnswer | null> {
  const { rowCount } = await client.query(
    `insert into api_answers as a (caller_id, idempotency_key, request_sha256) values ($1, $2, $3)
     on conflict (caller_id, idempotency_key) do update
       set request_sha256 = excluded.request_sha256, status_code = null, sealed_answer = null, key_id = null, created_at = now()
       where a.created_at < now() - ${retention}`,
    [callerId, idempotencyKey, requestSha256],
  );
  if (rowCount === 1) return null;
  const { rows } = await client.query<ApiAnswer>(
    `select request_sha256 as "requestSha256", status_code as "statusCode", sealed_answer as "sealedAnswer", key_id as "keyId",
       created_at as "createdAt"
     from api_answers where caller_id = $1 and idempotency_key = $2`,
    [callerId, idempotencyKey],
  );
  // Released meanwhile: the other request failed, and this one may try.
  return rows[0] ?? claimApiAnswer(client, { callerId, idempotencyKey, requestSha256 });
}

export async function storeApiAnswer(
  client: Queryable,
  answer: AnswerId & { statusCode: number; sealedAnswer: string; keyId: string },
): Promise<void> {
  await client.query(
    `update api_answers set status_code = $3, sealed_answer = $4, key_id = $5 where caller_id = $1 and idempotency_key = $2`,
    [answer.callerId, answer.idempotencyKey, answer.statusCode, answer.sealedAnswer, answer.keyId],
  );
}

/** Gives up a claim whose request changed nothing. */
export async function releaseApiAnswer(
  client: Queryable,
  { callerId, idempotencyKey }: AnswerId,
): Promise<void> {
  await client.query(
    'delete from api_answers where caller_id = $1 and idempotency_key = $2 and status_code is null',
    [callerId, idempotencyKey],
  );
}

/** Deletes answers that are older than the 24 hours. */
export async function deleteOldApiAnswers(client: Queryable): Promise<void> {
  await client.query(`delete from api_answers where created_at < now() - ${retention}`);
}
