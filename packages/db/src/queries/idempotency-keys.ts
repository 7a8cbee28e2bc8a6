import type { Reservation, ReservationState } from '@hqrelay/domain/inbound/reservation';
import type pg from 'pg';

/** The stored names of the states. Receivers of the previous version read and write the same rows, so these must not change. */
export const storedState = {
  reserved: 'reserved',
  accepted: 'seen',
  released: 'retryable',
} as const satisfies Record<ReservationState, string>;

/** A `case` that turns the stored state of a row into the state's name. */
export const stateNameSql = (column: string) =>
  `case ${column} ${Object.entries(storedState)
    .map(([name, stored]) => `when '${stored}' then '${name}'`)
    .join(' ')} end`;

/** A request that asks for a key. Keys stand for webhooks' ids while Redis is unavailable. */
export type KeyRequest = {
  projectId: string;
  webhookId: string;
  /** The id that the webhook gets when it is new. */
  id: string;
  payloadSha256: string;
  token: string;
  windowSeconds: number;
  reservationSeconds: number;
};

export type KeyReservation = { held: Pick<Reservation, 'state' | 'id' | 'payloadSha256'>; isMine: boolean };

/**
 * Reserves keys as `reserve` in the domain does, on the database's clock; answers in the order asked. Of several requests
 * for one key the first may get it. Throws when Postgres fails.
 */
export async function reserveKeys(pool: pg.Pool, requests: readonly KeyRequest[]): Promise<KeyReservation[]> {
  const first = new Map<string, KeyRequest>();
  for (const request of requests) if (!first.has(keyOf(request))) first.set(keyOf(request), request);
  const { rows } = await pool.query<{
    projectId: string;
    webhookId: string;
    id: string;
    sha256: string;
    token: string;
    state: ReservationState;
  }>(reserveStatement, parametersOf([...first.values()]));
  const held = new Map(rows.map((row) => [keyOf(row), row]));
  return requests.map((request) => {
    const row = held.get(keyOf(request));
    // Another transaction inserted the key between this statement's snapshot and its insert.
    if (!row) return { held: { ...request, state: 'reserved' }, isMine: false };
    const { state, id, sha256, token } = row;
    return {
      held: { state, id, payloadSha256: sha256 },
      isMine: state === 'reserved' && token === request.token,
    };
  });
}

// Keys are changed in their own order by every statement, so that two statements never wait for each other.
const asked = `unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::int[]) with ordinality
  as asked(project_id, webhook_id, id, sha256, token, window_seconds, place)`;

const reserveStatement = `
with reserved as (
  insert into idempotency_keys as k
    (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
  select project_id, webhook_id, id, sha256, '${storedState.reserved}', token, now(), now() + make_interval(secs => window_seconds)
  from ${asked} order by project_id, webhook_id
  on conflict (project_id, webhook_id) do update set
    webhook_log_id = case when k.payload_sha256 = excluded.payload_sha256 and k.expires_at > now()
      then k.webhook_log_id else excluded.webhook_log_id end,
    payload_sha256 = excluded.payload_sha256, state = excluded.state, token = excluded.token,
    reserved_at = now(), expires_at = excluded.expires_at
  where k.expires_at <= now() or k.state = '${storedState.released}' or (k.state = '${storedState.reserved}'
    and k.token <> excluded.token and k.reserved_at <= now() - make_interval(secs => $7))
  returning project_id, webhook_id, webhook_log_id, payload_sha256, token, state
), held as (
  select * from reserved
  union all
  select k.project_id, k.webhook_id, k.webhook_log_id, k.payload_sha256, k.token, k.state
  from ${asked} join idempotency_keys k using (project_id, webhook_id)
  where not exists (select from reserved r where r.project_id = k.project_id and r.webhook_id = k.webhook_id)
)
select project_id as "projectId", webhook_id as "webhookId", webhook_log_id as id, payload_sha256 as sha256, token,
  ${stateNameSql('state')} as state
from held`;

export type AcceptedKey = Pick<KeyRequest, 'projectId' | 'webhookId' | 'token' | 'id' | 'payloadSha256'>;

/** Accepts keys, under the ids that the webhooks have. */
export async function acceptKeys(pool: pg.Pool, keys: readonly AcceptedKey[]): Promise<void> {
  await pool.query(
    `with accepted as materialized (
       select k.project_id, k.webhook_id, a.id, a.sha256
       from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as a(project_id, webhook_id, id, sha256)
       join idempotency_keys k using (project_id, webhook_id)
       order by k.project_id, k.webhook_id for update of k
     )
     update idempotency_keys k set state = '${storedState.accepted}', webhook_log_id = a.id, payload_sha256 = a.sha256
     from accepted a where k.project_id = a.project_id and k.webhook_id = a.webhook_id`,
    columnsOf(keys).slice(0, 4),
  );
}

/** Releases the keys that these requests have reserved. */
export async function releaseKeys(
  pool: pg.Pool,
  keys: readonly Pick<KeyRequest, 'projectId' | 'webhookId' | 'token'>[],
): Promise<void> {
  await pool.query(
    `with released as materialized (
       select k.project_id, k.webhook_id
       from unnest($1::uuid[], $2::text[], $3::uuid[]) as r(project_id, webhook_id, token)
       join idempotency_keys k using (project_id, webhook_id)
       where k.token = r.token and k.state = '${storedState.reserved}'
       order by k.project_id, k.webhook_id for update of k
     )
     update idempotency_keys k set state = '${storedState.released}'
     from released r where k.project_id = r.project_id and k.webhook_id = r.webhook_id`,
    [
      keys.map(({ projectId }) => projectId),
      keys.map(({ webhookId }) => webhookId),
      keys.map(({ token }) => token),
    ],
  );
}

/** Projects with keys that have not expired: receivers served them without Redis within the window. */
export async function projectsWithKeys(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ project_id: string }>(
    'select distinct project_id from idempotency_keys where expires_at > now()',
  );
  return rows.map((row) => row.project_id);
}

/** Deletes up to `limit` expired keys. Returns how many. */
export async function dropExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from idempotency_keys where (project_id, webhook_id) in
       (select project_id, webhook_id from idempotency_keys where expires_at <= now() limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}

function parametersOf(requests: readonly KeyRequest[]): unknown[] {
  return [
    ...columnsOf(requests),
    requests.map(({ windowSeconds }) => windowSeconds),
    requests[0]?.reservationSeconds ?? 0,
  ];
}

function columnsOf(keys: readonly AcceptedKey[]): string[][] {
  return [
    keys.map(({ projectId }) => projectId),
    keys.map(({ webhookId }) => webhookId),
    keys.map(({ id }) => id),
    keys.map(({ payloadSha256 }) => payloadSha256),
    keys.map(({ token }) => token),
  ];
}

const keyOf = ({ projectId, webhookId }: { projectId: string; webhookId: string }) =>
  `${projectId} ${webhookId}`;
