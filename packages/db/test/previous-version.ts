import type pg from 'pg';

// The statements of an earlier version, whose receivers may run beside this one's on the same tables. Do not change them.
type KeyClaim = {
  projectId: string;
  webhookId: string;
  id: string;
  payloadSha256: string;
  token: string;
  windowSeconds: number;
  reservationSeconds: number;
};

type ClaimOutcome =
  | { kind: 'claimed'; id: string; takenOver: boolean }
  | { kind: 'seen'; id: string; sameBody: boolean }
  | { kind: 'pending'; id: string; sameBody: boolean };

export async function claimKeys(pool: pg.Pool, claims: readonly KeyClaim[]): Promise<ClaimOutcome[]> {
  const first = new Map<string, KeyClaim>();
  for (const claim of claims) if (!first.has(keyOf(claim))) first.set(keyOf(claim), claim);
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
    if (!row) return { kind: 'pending', id: claim.id, sameBody: true };
    if (row.token === claim.token) return { kind: 'claimed', id: row.id, takenOver: row.id !== claim.id };
    const sameBody = row.sha256 === claim.payloadSha256;
    return { kind: row.state === 'seen' ? 'seen' : 'pending', id: row.id, sameBody };
  });
}

type KeySettlement = Pick<KeyClaim, 'projectId' | 'webhookId' | 'token' | 'id' | 'payloadSha256'> & {
  state: 'seen' | 'retryable';
};

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

const asked = `unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::int[]) with ordinality
  as asked(project_id, webhook_id, id, sha256, token, window_seconds, place)`;

function parametersOf(claims: readonly KeyClaim[]): unknown[] {
  return [
    ...columnsOf(claims),
    claims.map(({ windowSeconds }) => windowSeconds),
    claims[0]?.reservationSeconds ?? 0,
  ];
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
