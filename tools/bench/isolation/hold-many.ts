import { holdDeliveries, type HeldDelivery } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { encodeMessage } from '@hqrelay/queue/messages';
import pg from 'pg';
import type { Site, Target } from './site.ts';

const batch = 1_000;

const body = Buffer.from(JSON.stringify({ event: 'payment.captured', padding: 'x'.repeat(960) }));

type Wait = Pick<HeldDelivery, 'reason' | 'dueAt' | 'queue'>;

/** Holds deliveries of an endpoint as workers and replays do. The webhooks were received a millisecond apart. */
export async function holdMany(
  site: Site,
  target: Target,
  count: number,
  wait: (index: number) => Wait,
): Promise<void> {
  const pool = new pg.Pool({ connectionString: site.world.databaseUrl, max: 1 });
  const start = Date.now() - count - 60_000;
  for (let done = 0; done < count; done += batch) {
    const deliveries = Array.from({ length: Math.min(batch, count - done) }, (_, index) =>
      heldDelivery(target, newId(start + done + index), wait(done + index)),
    );
    await holdDeliveries(pool, deliveries, Date.now());
  }
  await pool.end();
}

/** The first attempt of a webhook, or of its replay, that waits. */
function heldDelivery({ id: projectId, endpointId }: Target, id: string, waits: Wait): HeldDelivery {
  const replayId = waits.queue === 'hqrelay.replays' ? newId(Date.now()) : undefined;
  const delivery = {
    deliveryId: deliveryId(id, endpointId, replayId),
    endpointId,
    attemptNum: 1,
    lane: replayId ? ('replay' as const) : ('live' as const),
    notBefore: waits.dueAt,
    ...(replayId && { replayId }),
  };
  const envelope = {
    v: 1 as const,
    id,
    projectId,
    eventType: null,
    correlationId: id,
    endpointIds: [endpointId],
    headers: [],
    mayBeDuplicate: 'done_if_recorded' as const,
    delivery,
  };
  return {
    deliveryId: delivery.deliveryId,
    webhookLogId: id,
    endpointId,
    attemptNum: 1,
    orderingKey: null,
    message: encodeMessage({ envelope, body }),
    ...waits,
  };
}
