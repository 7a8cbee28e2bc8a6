import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { inIndexOrder, releaseFirst, type PublishHeld, type Releasable } from './held-deliveries.ts';

export type HoldingEndpoint = {
  endpointId: string;
  /** Per second. */
  releaseRate: number;
};

/** The reasons for which an endpoint held deliveries, where the endpoint is enabled and not paused by now. */
const heldByEndpoint = "reason in ('paused', 'disabled', 'breaker')";

/** Endpoints that are enabled and not paused, and have deliveries that were held because of the endpoint. */
export async function listHoldingEndpoints(pool: pg.Pool): Promise<HoldingEndpoint[]> {
  // From endpoint to endpoint in the index, however many deliveries each of them has.
  const { rows } = await pool.query<HoldingEndpoint>(
    `with recursive holding as (
       (select endpoint_id from held_deliveries where ${heldByEndpoint} order by endpoint_id limit 1)
       union all
       select (select endpoint_id from held_deliveries where ${heldByEndpoint} and endpoint_id > holding.endpoint_id
         order by endpoint_id limit 1)
       from holding where holding.endpoint_id is not null
     )
     select e.id as "endpointId", e.release_rate as "releaseRate"
     from holding join endpoints e on e.id = holding.endpoint_id where e.enabled and not e.paused`,
  );
  return rows;
}

export type ReleaseOptions = HoldingEndpoint & {
  /** ms since epoch. */
  now: number;
  /** Release one delivery, whatever the reason it is held for, to probe an endpoint whose breaker is open. */
  isProbe: boolean;
  /** The lane that a delivery goes back to, by the queue of its message and the message's size. */
  laneOf: (queue: string, bytes: number) => string;
  /** For deliveries that waited for its breaker or for room: how many each lane takes, and the pause after the last release. */
  breakerRoom: Readonly<Record<string, number>>;
  breakerEveryMs: number;
  /** Deliveries in one release. */
  limit: number;
};

/** A release makes up for at most this much time without releases. */
const catchUpMs = 2_000;

type Candidate = Releasable & { reason: string; queue: string };

/**
 * Releases deliveries of one endpoint, the oldest webhook first, in one transaction: those held while it was paused or
 * disabled at its release rate, those that waited for its breaker as far as there is room. One worker at a time; the rate is
 * that of all workers together and survives their restarts. Returns how many.
 */
export async function releaseOfEndpoint(
  pool: pg.Pool,
  options: ReleaseOptions,
  publish: PublishHeld,
): Promise<number> {
  const { endpointId, now } = options;
  return inTransaction(pool, async (client) => {
    const turn = await takeTurn(client, endpointId, now);
    if (!turn) return 0;
    const intervalMs = 1_000 / options.releaseRate;
    const from = Math.max(turn.next_at.getTime(), now - catchUpMs);
    const atRate = Math.max(0, 1 + Math.floor((now - from) / intervalMs));
    const isBreakersTurn = now - turn.breaker_released_at.getTime() >= options.breakerEveryMs;
    const room = isBreakersTurn ? options.breakerRoom : {};
    const { ofBreaker, taken } = await choose(client, options, { atRate, room });
    if (taken.length === 0) return 0;
    const released = await releaseFirst(client, taken, publish);
    const nextAt = ofBreaker ? turn.next_at : new Date(from + Math.ceil(released * intervalMs));
    await client.query(
      'update endpoint_releases set next_at = $2, breaker_released_at = $3 where endpoint_id = $1',
      [endpointId, nextAt, ofBreaker ? new Date(now) : turn.breaker_released_at],
    );
    return released;
  });
}

type Turn = { next_at: Date; breaker_released_at: Date };

/** When the endpoint had deliveries released; undefined while another worker releases some. */
async function takeTurn(client: pg.PoolClient, endpointId: string, now: number): Promise<Turn | undefined> {
  await client.query(
    `insert into endpoint_releases (endpoint_id, next_at, breaker_released_at) values ($1, $2, 'epoch')
     on conflict do nothing`,
    [endpointId, new Date(now)],
  );
  const { rows } = await client.query<Turn>(
    `select next_at, breaker_released_at, ${inIndexOrder} from endpoint_releases where endpoint_id = $1
     for update skip locked`,
    [endpointId],
  );
  return rows[0];
}

/** The oldest deliveries that were held alike, for the breaker or not, as many as their limit allows. */
async function choose(
  client: pg.PoolClient,
  options: ReleaseOptions,
  { atRate, room }: { atRate: number; room: ReleaseOptions['breakerRoom'] },
): Promise<{ ofBreaker: boolean; taken: Candidate[] }> {
  const { isProbe, laneOf } = options;
  const breakerMax = Object.values(room).reduce((sum, deliveries) => sum + deliveries, 0);
  const count = isProbe ? Math.min(1, breakerMax) : Math.max(atRate, breakerMax);
  const candidates = await oldest(client, options, count);
  const ofBreaker = isProbe || candidates[0]?.reason === 'breaker';
  const run = candidates.findIndex(({ reason }) => (reason === 'breaker') !== ofBreaker);
  const alike = isProbe || run === -1 ? candidates : candidates.slice(0, run);
  return { ofBreaker, taken: ofBreaker ? takeWithin(room, alike, laneOf) : alike.slice(0, atRate) };
}

/** The first candidates of each lane, as many as it has room for. */
function takeWithin(
  room: ReleaseOptions['breakerRoom'],
  candidates: readonly Candidate[],
  laneOf: ReleaseOptions['laneOf'],
): Candidate[] {
  const left = new Map(Object.entries(room));
  return candidates.filter(({ queue, bytes }) => {
    const lane = laneOf(queue, bytes);
    const taken = (left.get(lane) ?? 0) - 1;
    left.set(lane, taken);
    return taken >= 0;
  });
}

async function oldest(
  client: pg.PoolClient,
  { endpointId, now, limit }: ReleaseOptions,
  count: number,
): Promise<Candidate[]> {
  if (count === 0) return [];
  const { rows } = await client.query<Candidate>(
    `select delivery_id, reason, queue, octet_length(message) as bytes from held_deliveries
     where endpoint_id = $1 and ${heldByEndpoint} and due_at <= $2 order by webhook_log_id limit $3`,
    [endpointId, new Date(now), Math.min(count, limit)],
  );
  return rows;
}
