import type pg from 'pg';

/** An attempt of an ordered delivery that is about to be posted. */
export type TurnRequest = {
  deliveryId: string;
  webhookLogId: string;
  /** ms since epoch. */
  receivedAt: number;
  attemptNum: number;
  /** For how long no other worker may post the delivery. */
  claimMs: number;
};

export type TurnAnswer =
  /** It is the first of its key, and claimed for this attempt. */
  | { kind: 'yours'; sequence: number }
  /** Earlier deliveries of its key have not ended, or may be missing in Postgres. */
  | { kind: 'behind' }
  /** Another worker has claimed it. */
  | { kind: 'claimed' }
  | { kind: 'ended' }
  /** Its webhook was accepted before the endpoint had an ordering key. */
  | { kind: 'unordered' };

type TurnRow = {
  place: number;
  /** As text, because a bigint has no exact number. */
  taken: string | null;
  is_first: boolean | null;
  is_recorded: boolean | null;
  is_ended: boolean | null;
};

/**
 * Claims each delivery that is the first of its key, unless another worker has claimed it, and answers in the order asked. Later
 * sequences are never committed before earlier ones, so a delivery that is the first stays the first. A delivery leaves the
 * table only after its end is recorded: without a row it has ended, or never had one.
 */
export async function takeTurns(pool: pg.Pool, asked: readonly TurnRequest[]): Promise<TurnAnswer[]> {
  const { rows } = await pool.query<TurnRow>(takeStatement, [
    asked.map(({ deliveryId }) => deliveryId),
    asked.map(({ webhookLogId }) => webhookLogId),
    asked.map(({ receivedAt }) => new Date(receivedAt)),
    asked.map(({ attemptNum }) => attemptNum),
    asked.map(({ claimMs }) => claimMs),
  ]);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return asked.map((_, index) => answerOf(byPlace.get(index + 1)!));
}

const isFirst = `not exists (select from ordered_deliveries p
  where p.endpoint_id = o.endpoint_id and p.ordering_key = o.ordering_key and p.sequence < o.sequence)`;

const takeStatement = `
with asked as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::int[]) with ordinality
    as a(delivery_id, webhook_log_id, received_at, attempt_num, claim_ms, place)
), taken as (
  update ordered_deliveries o set claimed_attempt = a.attempt_num,
    claimed_until = clock_timestamp() + make_interval(secs => a.claim_ms / 1000.0)
  from asked a
  where o.delivery_id = a.delivery_id and o.sequence is not null and ${isFirst}
    and (o.claimed_until is null or o.claimed_until < clock_timestamp() or o.claimed_attempt < a.attempt_num)
  returning o.delivery_id, o.sequence
)
select a.place::int, t.sequence as taken,
  case when o.delivery_id is not null then o.sequence is not null and ${isFirst} end as is_first,
  case when o.delivery_id is null then exists (select from webhook_logs w
    where w.id = a.webhook_log_id and w.received_at = a.received_at) end as is_recorded,
  case when o.delivery_id is null then exists (select from dead_letters l where l.id = a.delivery_id)
    or exists (select from delivery_decisions x where x.delivery_id = a.delivery_id and x.cancelled_at is not null)
    or exists (select from delivery_attempts d where d.webhook_log_id = a.webhook_log_id and d.delivery_id = a.delivery_id
      and d.status <> 'failed' and d.attempted_at >= a.received_at - interval '1 day') end as is_ended
from asked a left join ordered_deliveries o using (delivery_id) left join taken t using (delivery_id)`;

function answerOf(row: TurnRow): TurnAnswer {
  if (row.taken !== null) return { kind: 'yours', sequence: Number(row.taken) };
  if (row.is_first !== null) return { kind: row.is_first ? 'claimed' : 'behind' };
  if (row.is_ended) return { kind: 'ended' };
  return { kind: row.is_recorded ? 'unordered' : 'behind' };
}

/** Another worker may post the delivery: this one stopped before it recorded the attempt. */
export async function leaveTurn(
  pool: pg.Pool,
  { deliveryId, attemptNum }: { deliveryId: string; attemptNum: number },
): Promise<void> {
  await pool.query(
    'update ordered_deliveries set claimed_until = null where delivery_id = $1 and claimed_attempt = $2',
    [deliveryId, attemptNum],
  );
}

/** Takes deliveries out of their keys. Call it when their ends are recorded in Postgres. */
export async function endTurns(pool: pg.Pool, deliveryIds: readonly string[]): Promise<void> {
  await pool.query('delete from ordered_deliveries where delivery_id = any($1::uuid[])', [deliveryIds]);
}
