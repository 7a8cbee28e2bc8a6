import { timeOfId } from '@hqrelay/domain/ids';
import type { PriorWebhook } from '@hqrelay/domain/inbound/reservation';
import type pg from 'pg';
import { stateNameSql, storedState, type KeyRequest } from './idempotency-keys.ts';

const dayMs = 86_400_000;

/** `isBody`: the key stands for the body, so a webhook with this body counts under any webhook id. */
export type PriorRequest = KeyRequest & { isBody?: boolean };

/**
 * The webhooks that Postgres has recorded or reserved for these ids within their windows, apart from the keys that these
 * requests have reserved; in the order asked. Throws when Postgres fails.
 */
export async function findPriorWebhooks(
  pool: pg.Pool,
  requests: readonly PriorRequest[],
): Promise<(PriorWebhook | null)[]> {
  const { rows } = await pool.query<PriorWebhook & { place: number }>(priorStatement, [
    requests.map(({ projectId }) => projectId),
    requests.map(({ webhookId }) => webhookId),
    requests.map(({ token }) => token),
    requests.map(({ windowSeconds }) => windowSeconds),
    requests[0]?.reservationSeconds ?? 0,
    ...periodOf(requests, Date.now()),
    requests.map(({ isBody, payloadSha256 }) => (isBody ? payloadSha256 : null)),
  ]);
  const byPlace = new Map(rows.map(({ place, ...prior }) => [place, prior]));
  return requests.map((_, index) => byPlace.get(index + 1) ?? null);
}

const priorStatement = `select asked.place::int, prior.*
     from unnest($1::uuid[], $2::text[], $3::uuid[], $4::int[], $8::text[]) with ordinality
       as asked(project_id, webhook_id, token, window_seconds, body_sha256, place)
     cross join lateral (
       with accepted as (
         select w.id, w.payload_sha256 as "payloadSha256", 'accepted' as state,
           cardinality(w.endpoint_ids) = 0
             or exists (select from delivery_attempts a where a.webhook_log_id = w.id
               and a.attempted_at >= w.received_at - interval '1 hour' and a.attempted_at between $6 and $7)
             or exists (select from held_deliveries h where h.webhook_log_id = w.id)
             or exists (select from outbox o where o.id = w.id) as "isCarried"
         from (
           select * from webhook_logs
           where project_id = asked.project_id and webhook_id = asked.webhook_id and received_at between $6 and $7
           union all
           select * from webhook_logs
           where project_id = asked.project_id and payload_sha256 = asked.body_sha256 and body_is_key
             and received_at between $6 and $7
         ) w
         where w.status = 'queued' and w.received_at > now() - make_interval(secs => asked.window_seconds)
         order by w.received_at limit 1
       )
       select * from accepted
       union all
       select webhook_log_id, payload_sha256, ${stateNameSql('k.state')}, k.state = '${storedState.accepted}'
       from idempotency_keys k
       where k.project_id = asked.project_id and k.webhook_id = asked.webhook_id and k.token <> asked.token
         and k.expires_at > now() and not exists (select from accepted)
         and (k.state <> '${storedState.reserved}' or k.reserved_at > now() - make_interval(secs => $5))
     ) prior`;

/**
 * The endpoints that these webhooks owe, as fixed when each was first accepted; null for a webhook without a row; in the order
 * asked. Throws when Postgres fails.
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

/** When webhooks of these windows may have been received, by clocks at most a day apart: it limits the partitions that are read. */
function periodOf(requests: readonly KeyRequest[], now: number): [from: Date, to: Date] {
  const longestWindowMs = Math.max(...requests.map(({ windowSeconds }) => windowSeconds)) * 1_000;
  return [new Date(now - longestWindowMs - dayMs), new Date(now + dayMs)];
}
