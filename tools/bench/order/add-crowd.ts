import { holdDeliveries } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import type { Pipeline } from '../pipelines.ts';

export type Crowd = { keysSeen: number; waiting: number };

const key = 'crowded';
const perStatement = 1_000;
/** As much as a webhook of the benchmark and its envelope. */
const message = Buffer.alloc(1_500, 'x');

/** Keys that the endpoint has seen, and webhooks that are held behind the first of one key, which waits for its retry. */
export async function addCrowd(
  { world: { sql }, endpointId }: Pipeline,
  { keysSeen, waiting }: Crowd,
): Promise<void> {
  await sql.query(
    `insert into ordering_keys (endpoint_id, ordering_key, last_sequence)
     select $1::uuid, 'seen-' || number, 1 from generate_series(1, $2::int) as number
     union all select $1::uuid, $3::text, $4::int`,
    [endpointId, keysSeen, key, waiting + 1],
  );
  for (let from = 0; from <= waiting; from += perStatement) {
    const ids = Array.from({ length: Math.min(perStatement, waiting + 1 - from) }, () => freshId());
    const deliveryIds = ids.map((id) => deliveryId(id, endpointId));
    await sql.query(
      `insert into ordered_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, accepted_at_us, sequence)
       select d, w, $3::uuid, $4::text, 0, $5::int + number from unnest($1::uuid[], $2::uuid[]) with ordinality as f (d, w, number)`,
      [deliveryIds, ids, endpointId, key, from],
    );
    const held = ids.map((webhookLogId, index) => ({
      deliveryId: deliveryIds[index]!,
      webhookLogId,
      endpointId,
      attemptNum: 1,
      orderingKey: key,
      reason: 'order' as const,
      dueAt: 0,
      queue: 'hqrelay.webhooks',
      message,
    }));
    await holdDeliveries(sql, from === 0 ? held.slice(1) : held, Date.now());
  }
  await sql.query('analyze ordering_keys, ordered_deliveries, held_deliveries');
}
