import type pg from 'pg';

// Another worker waits for the locks of a client that is frozen or cut off, so Postgres ends such a client within seconds: one
// that is idle in a transaction for longer than a publish waits for its confirm, or that does not acknowledge bytes. SET LOCAL,
// because behind a transaction-mode pooler a session serves many clients.
const begin = `begin; set local idle_in_transaction_session_timeout = '5s'; set local tcp_user_timeout = '5s'`;

/**
 * Runs `work` in one transaction and returns its result. An error of `work` rolls back, closes the connection and is thrown.
 * Postgres ends the transaction when the client is silent for 5 s.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // The pool listens to idle connections only. Without a listener, one that breaks while `work` runs would end the process;
  // with it, the next query fails.
  client.on('error', ignore);
  try {
    await client.query(begin);
    const value = await work(client);
    await client.query('commit');
    client.off('error', ignore);
    client.release();
    return value;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function ignore(): void {}
