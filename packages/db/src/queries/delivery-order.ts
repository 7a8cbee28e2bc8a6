import type { Queryable } from '../queryable.ts';
import type { DeliveryState } from './webhooks.ts';

/** Where a delivery stands among those of its key, until it has ended. */
export type DeliveryOrder = {
  key: string;
  /** Null while webhooks that were accepted before it may be missing in Postgres. */
  sequence: number | null;
  /** The delivery that is the first of the key now; null for the first itself. */
  behind: {
    webhookId: string;
    state: DeliveryState;
    /** When its next attempt is due, or it is released; null while that is not known. */
    nextAttemptAt: Date | null;
  } | null;
};

type Row = {
  deliveryId: string;
  key: string;
  /** As text, because a bigint has no exact number. */
  sequence: string | null;
  behindId: string | null;
  state: DeliveryState | null;
  nextAttemptAt: Date | null;
};

/** By the id of the delivery; an unordered delivery, or one that has ended, has none. */
export async function readDeliveryOrders(
  client: Queryable,
  deliveryIds: readonly string[],
): Promise<Map<string, DeliveryOrder>> {
  const { rows } = await client.query<Row>(
    `select o.delivery_id as "deliveryId", o.ordering_key as key, o.sequence, f.webhook_log_id as "behindId", s.state,
       coalesce(s.next_attempt_at, case when s.held_reason = 'delay' then s.held_until end) as "nextAttemptAt"
     from ordered_deliveries o
     left join lateral (
       select p.delivery_id, p.webhook_log_id, p.endpoint_id from ordered_deliveries p
       where p.endpoint_id = o.endpoint_id and p.ordering_key = o.ordering_key and p.sequence is not null
       order by p.sequence limit 1
     ) as f on f.delivery_id <> o.delivery_id
     left join delivery_status s on s.webhook_log_id = f.webhook_log_id
       and s.received_at = hqrelay_time_of(f.webhook_log_id)::timestamptz(3) and s.endpoint_id = f.endpoint_id
     where o.delivery_id = any($1::uuid[])`,
    [deliveryIds],
  );
  return new Map(rows.map((row) => [row.deliveryId, orderOf(row)]));
}

function orderOf({ key, sequence, behindId, state, nextAttemptAt }: Row): DeliveryOrder {
  return {
    key,
    sequence: sequence === null ? null : Number(sequence),
    behind: behindId === null ? null : { webhookId: behindId, state: state ?? 'waiting', nextAttemptAt },
  };
}
