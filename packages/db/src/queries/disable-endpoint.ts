import type pg from 'pg';

/**
 * Disables an enabled endpoint on the relay's behalf, with the reason. It is still owed webhooks; its deliveries are held
 * until a person enables it.
 */
export async function disableEndpoint(pool: pg.Pool, endpointId: string, reason: string): Promise<void> {
  await pool.query(
    `update endpoints set enabled = false, disabled_by = 'relay', disabled_reason = $2 where id = $1 and enabled`,
    [endpointId, reason],
  );
}
