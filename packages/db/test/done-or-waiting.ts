import { waitFor } from '@hqrelay/testing/wait-for';
import type pg from 'pg';

/** Resolves when the query has ended, or waits for a lock that another transaction holds. */
export async function doneOrWaiting(sql: pg.Pool, query: Promise<unknown>): Promise<void> {
  let isDone = false;
  void query.finally(() => (isDone = true)).catch(() => {});
  await waitFor('the query to end or to wait', async () => {
    const { rows } = await sql.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return isDone || rows.length > 0;
  });
}
