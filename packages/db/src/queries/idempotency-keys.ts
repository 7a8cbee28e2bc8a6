import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';

export type PriorWebhook = {
  id: string;
  payloadSha256: string;
  /**
   * `alive`: an attempt, a place in the outbox or among the held, or a claim that was settled. `unknown`: accepted, and without a
   * sign of life: it may never have been published. `pending`: another request has claimed it without Redis, and is not done.
   * `failed`: such a request could make it durable nowhere; the next one takes its id over.
   */
  state: 'alive' | 'unknown' | 'pending' | 'failed';
};

/**
 * What is known here of a webhook of this id within the window, if anything, other than by the claim under `token`. Throws
 * when Postgres fails.
 */
export async function findPriorWebhook(
  pool: pg.Pool,
  claim: Pick<KeyClaim, 'projectId' | 'webhookId' | 'token' | 'windowSeconds' | 'reservationSeconds'>,
): Promise<PriorWebhook | null> {
  const { rows } = await pool.query<PriorWebhook>(
    `with accepted as (
       select w.id, w.payload_sha256 as "payloadSha256",
         case when cardinality(w.endpoint_ids) = 0
           or exists (select from delivery_attempts a where a.webhook_log_id = w.id and a.attempted_at >= w.received_at - interval '1 hour')
           or exists (select from held_deliveries h where h.webhook_log_id = w.id)
           or exists (select from outbox o where o.id = w.id)
         then 'alive' else 'unknown' end as state
       from webhook_logs w
       where w.project_id = $1 and w.webhook_id = $2 and w.status = 'queued'
         and w.received_at > now() - make_interval(secs => $3)
       order by w.received_at limit 1
     )
     select * from accepted
     union all
     select webhook_log_id, payload_sha256, case state when 'seen' then 'alive' when 'reserved' then 'pending' else 'failed' end
     from idempotency_keys
     where project_id = $1 and webhook_id = $2 and token <> $4 and expires_at > now() and not exists (select from accepted)
       and (state <> 'reserved' or reserved_at > now() - make_interval(secs => $5))`,
    [claim.projectId, claim.webhookId, claim.windowSeconds, claim.token, claim.reservationSeconds],
  );
  return rows[0] ?? null;
}

/** The endpoints that a webhook owes, if its row is here: fixed when it was first accepted. Throws when Postgres fails. */
export async function findOwedEndpoints(pool: pg.Pool, id: string): Promise<string[] | null> {
  const { rows } = await pool.query<{ endpointIds: string[] }>(
    `select endpoint_ids as "endpointIds" from webhook_logs
     where id = $1 and received_at = to_timestamp($2 / 1000.0) and status = 'queued'`,
    [id, timeOfId(id)],
  );
  return rows[0]?.endpointIds ?? null;
}

export type KeyClaim = {
  projectId: string;
  webhookId: string;
  id: string;
  payloadSha256: string;
  token: string;
  windowSeconds: number;
  reservationSeconds: number;
};

export type ClaimOutcome =
  | { kind: 'claimed'; id: string; takenOver: boolean }
  | { kind: 'seen'; id: string; sameBody: boolean }
  | { kind: 'pending'; id: string; sameBody: boolean };

/** The claim on a webhook's id while Redis is away, on the database's clock. Throws when Postgres fails. */
export async function claimKey(pool: pg.Pool, claim: KeyClaim): Promise<ClaimOutcome> {
  const { rows } = await pool.query<{ id: string; sha256: string; token: string; state: string }>(
    `with claimed as (
       insert into idempotency_keys as k
         (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
       values ($1, $2, $3, $4, 'reserved', $5, now(), now() + make_interval(secs => $6))
       on conflict (project_id, webhook_id) do update set
         webhook_log_id = case when k.payload_sha256 = excluded.payload_sha256 and k.expires_at > now()
           then k.webhook_log_id else excluded.webhook_log_id end,
         payload_sha256 = excluded.payload_sha256, state = 'reserved', token = excluded.token,
         reserved_at = now(), expires_at = excluded.expires_at
       where k.state = 'retryable' or k.expires_at <= now()
         or (k.state = 'reserved' and k.reserved_at <= now() - make_interval(secs => $7))
       returning webhook_log_id, payload_sha256, token, state
     )
     select webhook_log_id as id, payload_sha256 as sha256, token, state from claimed
     union all
     select webhook_log_id, payload_sha256, token, state from idempotency_keys
     where project_id = $1 and webhook_id = $2 and not exists (select from claimed)`,
    [
      claim.projectId,
      claim.webhookId,
      claim.id,
      claim.payloadSha256,
      claim.token,
      claim.windowSeconds,
      claim.reservationSeconds,
    ],
  );
  const row = rows[0];
  // Inserted by another transaction between the statement's snapshot and its insert: it is being worked on.
  if (!row) return { kind: 'pending', id: claim.id, sameBody: true };
  if (row.token === claim.token) return { kind: 'claimed', id: row.id, takenOver: row.id !== claim.id };
  const sameBody = row.sha256 === claim.payloadSha256;
  return { kind: row.state === 'seen' ? 'seen' : 'pending', id: row.id, sameBody };
}

/** Ends a claim, under the id the webhook has: `seen` when the webhook is durable, `retryable` when nothing could take it. */
export async function settleKey(
  pool: pg.Pool,
  claim: Pick<KeyClaim, 'projectId' | 'webhookId' | 'token' | 'id' | 'payloadSha256'>,
  state: 'seen' | 'retryable',
): Promise<void> {
  await pool.query(
    `update idempotency_keys set state = $4, webhook_log_id = $5, payload_sha256 = $6
     where project_id = $1 and webhook_id = $2 and token = $3`,
    [claim.projectId, claim.webhookId, claim.token, state, claim.id, claim.payloadSha256],
  );
}

/** Projects with ids that were claimed here and have not run out: their Redis was away within the window. */
export async function projectsWithClaims(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ project_id: string }>(
    'select distinct project_id from idempotency_keys where expires_at > now()',
  );
  return rows.map((row) => row.project_id);
}

/** Drops claims that have run out, up to `limit`. Returns how many. */
export async function dropExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from idempotency_keys where (project_id, webhook_id) in
       (select project_id, webhook_id from idempotency_keys where expires_at <= now() limit $1)`,
    [limit],
  );
  return rowCount ?? 0;
}
