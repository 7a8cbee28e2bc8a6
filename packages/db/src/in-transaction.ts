import type pg from 'pg';

/**
 * Runs `work` in one transaction and returns what it returns. What it throws undoes everything and is thrown; a connection
 * that failed is not used again.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // The pool listens to idle connections alone. One that breaks while `work` is busy elsewhere would end the process; its
  // next query fails.
  client.on('error', ignore);
  try {
    await client.query('begin');
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
