import { Agent } from 'node:http';
import { waitFor } from '@hqrelay/testing/wait-for';
import { countReady } from '../outcome/remains.ts';
import { breakSite } from './break-site.ts';
import { judgeArrivals } from './judge-arrivals.ts';
import { arrivalsOf, hasTakenAll, openLane, sendWebhooks, sentOf, type Lane } from './lane.ts';
import type { OrderSite } from './order-site.ts';
import type { Round } from './random-round.ts';

const deliveredWithinMs = 90_000;

/** Runs the schedules of a round at once, and returns the faults in the order of what arrived. */
export async function runRound(site: OrderSite, { faults, traffics }: Round): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const lanes: Lane[] = [];
  try {
    for (const traffic of traffics) lanes.push(await openLane(site, traffic));
    // Both to their ends: a repair must not meet a fault that is under way.
    const outcomes = await Promise.allSettled([
      breakSite(site, faults),
      ...lanes.map((lane) => sendWebhooks(lane, site.receivers, agent)),
    ]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    await site.repair();
    const late = await untilDelivered(site, lanes);
    return [...late, ...lanes.flatMap((lane) => judgeArrivals(sentOf(lane), arrivalsOf(lane)))];
  } finally {
    await site.repair();
    agent.destroy();
    await Promise.all(lanes.map(({ endpoint }) => endpoint.close()));
  }
}

/** Waits until nothing can arrive any more: every delivery has ended, and no message is left. */
async function untilDelivered({ world }: OrderSite, lanes: readonly Lane[]): Promise<string[]> {
  const endpointIds = lanes.flatMap(({ project }) => project.endpointIds);
  const hasEnded = async () => {
    if (!lanes.every(hasTakenAll)) return false;
    const sql = 'select from ordered_deliveries where endpoint_id = any($1)';
    if ((await world.sql.query(sql, [endpointIds])).rows.length > 0) return false;
    return (await countReady(world.rabbitmqUrl)).soon === 0;
  };
  return waitFor('every delivery to end', hasEnded, { timeoutMs: deliveredWithinMs, everyMs: 200 }).then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : String(error)],
  );
}
