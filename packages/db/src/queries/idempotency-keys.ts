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
 * What is known here of webhooks of these ids within their windows, if anything, other than by the claims under the same
 * tokens; in the order asked. Throws when Postgres fails.
 */
export async function findPriorWebhooks(
  pool: pg.Pool,
  claims: readonly KeyClaim[],
): Promise<(PriorWebhook | null)[]> {
  const { rows } = await pool.query<PriorWebhook & { place: number }>(
    `select asked.place::int, prior.* from ${asked}
     cross join lateral (
       with accepted as (
         select w.id, w.payload_sha256 as "payloadSha256",
           case when cardinality(w.endpoint_ids) = 0
             or exists (select from delivery_attempts a where a.webhook_log_id = w.id
               and a.attempted_at >= w.received_at - interval '1 hour' and a.attempted_at between $8 and $9)
             or exists (select from held_deliveries h where h.webhook_log_id = w.id)
             or exists (select from outbox o where o.id = w.id)
           then 'alive' else 'unknown' end as state
         from webhook_logs w
         where w.project_id = asked.project_id and w.webhook_id = asked.webhook_id and w.status = 'queued'
           and w.received_at > now() - make_interval(secs => asked.window_seconds) and w.received_at between $8 and $9
         order by w.received_at limit 1
       )
       select * from accepted
       union all
       select webhook_log_id, payload_sha256, case state when 'seen' then 'alive' when 'reserved' then 'pending' else 'failed' end
       from idempotency_keys k
       where k.project_id = asked.project_id and k.webhook_id = asked.webhook_id and k.token <> asked.token
         and k.expires_at > now() and not exists (select from accepted)
         and (k.state <> 'reserved' or k.reserved_at > now() - make_interval(secs => $7))
     ) prior`,
    [...parametersOf(claims), ...periodOf(claims, Date.now())],
  );
  const byPlace = new Map(rows.map(({ place, ...prior }) => [place, prior]));
  return claims.map((_, index) => byPlace.get(index + 1) ?? null);
}

/**
 * The endpoints that webhooks owe whose rows are here, fixed when they were first accepted; in the order asked. Throws when
 * Postgres fails.
 */
export async function findOwedEndpoints(pool: pg.Pool, ids: readonly string[]): Promise<(string[] | null)[]> {
  const times = ids.map(timeOfId);
  const { rows } = await pool.query<{ id: string; endpointIds: string[] }>(
    `select asked.id, w.endpoint_ids as "endpointIds" from unnest($1::uuid[], $2::bigint[]) as asked(id, at)
     cross join lateral (
       select endpoint_ids from webhook_logs
       where id = asked.id and received_at = to_timestamp(asked.at / 1000.0) and status = 'queued'
         and received_at between $3 and $4 limit 1
     ) w`,
    [ids, times, new Date(Math.min(...times)), new Date(Math.max(...times))],
  );
  const owed = new Map(rows.map(({ id, endpointIds }) => [id, endpointIds]));
  return ids.map((id) => owed.get(id) ?? null);
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

/**
 * The claims on webhooks' ids while Redis is away, on the database's clock; outcomes in the order asked. Of several claims on one
 * id the first may get it. Throws when Postgres fails.
 */
export async function claimKeys(pool: pg.Pool, claims: readonly KeyClaim[]): Promise<ClaimOutcome[]> {
  const first = new Map<string, KeyClaim>();
  for (const claim of claims) if (!first.has(keyOf(claim))) first.set(keyOf(claim), claim);
  // In the same order by everybody: two such statements never wait for each other.
  const { rows } = await pool.query<{
    projectId: string;
    webhookId: string;
    id: string;
    sha256: string;
    token: string;
    state: string;
  }>(
    `with claimed as (
       insert into idempotency_keys as k
         (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
       select project_id, webhook_id, id, sha256, 'reserved', token, now(), now() + make_interval(secs => window_seconds)
       from ${asked} order by project_id, webhook_id
       on conflict (project_id, webhook_id) do update set
         webhook_log_id = case when k.payload_sha256 = excluded.payload_sha256 and k.expires_at > now()
           then k.webhook_log_id else excluded.webhook_log_id end,
         payload_sha256 = excluded.payload_sha256, state = 'reserved', token = excluded.token,
         reserved_at = now(), expires_at = excluded.expires_at
       where k.state = 'retryable' or k.expires_at <= now()
         or (k.state = 'reserved' and k.reserved_at <= now() - make_interval(secs => $7))
       returning project_id, webhook_id, webhook_log_id, payload_sha256, token, state
     )
     select project_id as "projectId", webhook_id as "webhookId", webhook_log_id as id, payload_sha256 as sha256, token, state
     from claimed
     union all
     select k.project_id, k.webhook_id, k.webhook_log_id, k.payload_sha256, k.token, k.state
     from ${asked} join idempotency_keys k using (project_id, webhook_id)
     where not exists (select from claimed c where c.project_id = k.project_id and c.webhook_id = k.webhook_id)`,
    parametersOf([...first.values()]),
  );
  const held = new Map(rows.map((row) => [keyOf(row), row]));
  return claims.map((claim) => {
    const row = held.get(keyOf(claim));
    // Inserted by another transaction between the statement's snapshot and its insert: it is being worked on.
    if (!row) return { kind: 'pending', id: claim.id, sameBody: true };
    if (row.token === claim.token) return { kind: 'claimed', id: row.id, takenOver: row.id !== claim.id };
    const sameBody = row.sha256 === claim.payloadSha256;
    return { kind: row.state === 'seen' ? 'seen' : 'pending', id: row.id, sameBody };
  });
}

export type KeySettlement = Pick<KeyClaim, 'projectId' | 'webhookId' | 'token' | 'id' | 'payloadSha256'> & {
  state: 'seen' | 'retryable';
};

/** Ends claims, under the ids the webhooks have: `seen` when one is durable, `retryable` when nothing could take it. */
export async function settleKeys(pool: pg.Pool, settlements: readonly KeySettlement[]): Promise<void> {
  await pool.query(
    `with settled as materialized (
       select k.project_id, k.webhook_id, s.id, s.sha256, s.state
       from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::text[])
         as s(project_id, webhook_id, id, sha256, token, state)
       join idempotency_keys k using (project_id, webhook_id)
       where k.token = s.token order by k.project_id, k.webhook_id for update of k
     )
     update idempotency_keys k set state = s.state::idempotency_state, webhook_log_id = s.id, payload_sha256 = s.sha256
     from settled s where k.project_id = s.project_id and k.webhook_id = s.webhook_id`,
    [...columnsOf(settlements), settlements.map(({ state }) => state)],
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
       (select project_id, webhook_id from idempotency_keys where expires_at <= now() limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}

const dayMs = 86_400_000;

const asked = `unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::int[]) with ordinality
  as asked(project_id, webhook_id, id, sha256, token, window_seconds, place)`;

function parametersOf(claims: readonly KeyClaim[]): unknown[] {
  return [
    ...columnsOf(claims),
    claims.map(({ windowSeconds }) => windowSeconds),
    claims[0]?.reservationSeconds ?? 0,
  ];
}

/** In which webhooks of these windows came, by clocks that differ by a day at most: a plan has no other months' partitions. */
function periodOf(claims: readonly KeyClaim[], now: number): [from: Date, to: Date] {
  const longestWindowMs = Math.max(...claims.map(({ windowSeconds }) => windowSeconds)) * 1_000;
  return [new Date(now - longestWindowMs - dayMs), new Date(now + dayMs)];
}

function columnsOf(
  claims: readonly Pick<KeyClaim, 'projectId' | 'webhookId' | 'id' | 'payloadSha256' | 'token'>[],
): string[][] {
  return [
    claims.map(({ projectId }) => projectId),
    claims.map(({ webhookId }) => webhookId),
    claims.map(({ id }) => id),
    claims.map(({ payloadSha256 }) => payloadSha256),
    claims.map(({ token }) => token),
  ];
}

const keyOf = ({ projectId, webhookId }: { projectId: string; webhookId: string }) =>
  `${projectId} ${webhookId}`;
