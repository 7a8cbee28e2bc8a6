import type { Breaker } from '@hqrelay/domain/delivery/breaker';
import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';

type Row = {
  endpoint_id: string;
  state: Breaker['state'];
  failures: number;
  failing_since: Date | null;
  opened_at: Date | null;
  probe_at: Date | null;
  interval_ms: number;
  closed_at: Date | null;
};

const columns = 'endpoint_id, state, failures, failing_since, opened_at, probe_at, interval_ms, closed_at';

/** The breakers of all endpoints that failed lately, by endpoint. */
export async function readBreakers(pool: pg.Pool): Promise<Map<string, Breaker>> {
  const { rows } = await pool.query<Row>(`select ${columns} from endpoint_breakers`);
  return new Map(rows.map((row) => [row.endpoint_id, breakerOf(row)]));
}

/**
 * Replaces one endpoint's breaker by the result of `change`; undefined deletes it. No other worker changes it meanwhile.
 * Returns the breaker before and after.
 */
export async function changeBreaker(
  pool: pg.Pool,
  endpointId: string,
  change: (before: Breaker | undefined) => Breaker | undefined,
): Promise<{ before: Breaker | undefined; after: Breaker | undefined }> {
  return inTransaction(pool, async (client) => {
    // A missing row cannot be locked.
    await client.query("select pg_advisory_xact_lock(hashtext('hqrelay_breaker'), hashtext($1))", [
      endpointId,
    ]);
    const { rows } = await client.query<Row>(
      `select ${columns} from endpoint_breakers where endpoint_id = $1`,
      [endpointId],
    );
    const before = rows[0] && breakerOf(rows[0]);
    const after = change(before);
    if (after) await storeBreaker(client, endpointId, after);
    else if (before) await client.query('delete from endpoint_breakers where endpoint_id = $1', [endpointId]);
    return { before, after };
  });
}

/** Deletes closed breakers that did not change for an hour. Returns how many. */
export async function dropQuietBreakers(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "delete from endpoint_breakers where state = 'closed' and updated_at < now() - interval '1 hour'",
  );
  return rowCount ?? 0;
}

async function storeBreaker(client: pg.PoolClient, endpointId: string, breaker: Breaker): Promise<void> {
  await client.query(
    `insert into endpoint_breakers (${columns}, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, now())
     on conflict (endpoint_id) do update set state = excluded.state, failures = excluded.failures,
       failing_since = excluded.failing_since, opened_at = excluded.opened_at, probe_at = excluded.probe_at,
       interval_ms = excluded.interval_ms, closed_at = excluded.closed_at, updated_at = excluded.updated_at`,
    [
      endpointId,
      breaker.state,
      Math.min(breaker.failures, 2_147_483_647),
      dateOf(breaker.failingSince),
      dateOf(breaker.openedAt),
      dateOf(breaker.probeAt),
      breaker.intervalMs,
      dateOf(breaker.closedAt),
    ],
  );
}

function breakerOf(row: Row): Breaker {
  return {
    state: row.state,
    failures: row.failures,
    failingSince: row.failing_since?.getTime() ?? null,
    openedAt: row.opened_at?.getTime() ?? null,
    probeAt: row.probe_at?.getTime() ?? null,
    intervalMs: row.interval_ms,
    closedAt: row.closed_at?.getTime() ?? null,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
