import type pg from 'pg';

/** Disables an endpoint with the reason, once. Its deliveries are held until it is enabled again. */
export async function disableEndpoint(pool: pg.Pool, endpointId: string, reason: string): Promise<void> {
  await pool.query('update endpoints set enabled = false, disabled_reason = $2 where id = $1 and enabled', [
    endpointId,
    reason,
  ]);
}
