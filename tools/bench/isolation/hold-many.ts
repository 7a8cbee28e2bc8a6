import { holdDeliveries, type HeldDelivery } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { encodeMessage } from '@hqrelay/queue/messages';
import pg from 'pg';
import type { Site, Target } from './site.ts';

const batch = 1_000;

/** Holds deliveries of an endpoint as workers and replays do. The webhooks were received a millisecond apart. */
export async function holdMany(
  site: Site,
  { id: projectId, endpointId }: Target,
  count: number,
  wait: (index: number) => Pick<HeldDelivery, 'reason' | 'dueAt' | 'queue'>,
): Promise<void> {
  const pool = new pg.Pool({ connectionString: site.world.databaseUrl, max: 1 });
  const start = Date.now() - count - 60_000;
  const body = Buffer.from(JSON.stringify({ event: 'payment.captured', padding: 'x'.repeat(960) }));
  const held = (index: number): HeldDelivery => {
    const id = newId(start + index);
    const waits = wait(index);
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
    const message = encodeMessage({ envelope, body });
    return {
      deliveryId: delivery.deliveryId,
      webhookLogId: id,
      endpointId,
      attemptNum: 1,
      orderingKey: null,
      message,
      ...waits,
    };
  };
  for (let done = 0; done < count; done += batch) {
    const deliveries = Array.from({ length: Math.min(batch, count - done) }, (_, index) =>
      held(done + index),
    );
    await holdDeliveries(pool, deliveries, Date.now());
  }
  await pool.end();
}
