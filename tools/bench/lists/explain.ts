import type { Queryable } from '@hqrelay/db/queryable';
import type pg from 'pg';

/** Runs queries, and returns the executed plan of each statement. */
export async function explain(
  pool: pg.Pool,
  run: (client: Queryable) => Promise<unknown>,
): Promise<string[]> {
  const plans: string[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off, costs off) ${text}`,
        values,
      );
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return pool.query(text, values);
    },
  };
  await run(explaining as unknown as pg.Pool);
  return plans;
}
