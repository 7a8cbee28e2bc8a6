import type pg from 'pg';

const rowsPerBatch = 500;
const first = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes the payloads of webhooks received before `before` (ms since epoch), at least a day ago, except those that a delivery
 * or replay still waits for. Each batch is a transaction of its own; another worker that deletes ends it. Returns how many.
 */
export async function dropPayloads(pool: pg.Pool, before: number, stopping?: AbortSignal): Promise<number> {
  let total = 0;
  for (let after: string | null = first; after !== null && !stopping?.aborted;) {
    const { rows }: pg.QueryResult<{ last: string | null; dropped: number }> = await pool.query(
      'select last, dropped from hqrelay_drop_payloads($1, $2, $3)',
      [new Date(before), after, rowsPerBatch],
    );
    total += rows[0]?.dropped ?? 0;
    after = rows[0]?.last ?? null;
  }
  return total;
}
