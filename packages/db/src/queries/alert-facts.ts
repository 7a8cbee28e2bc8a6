import type { Queryable } from '../queryable.ts';
import type { Watcher } from './alert-states.ts';

/** One condition that holds at present. Times are ms since epoch. */
export type AlertFact = {
  ruleId: string;
  projectId: string;
  endpointId: string | null;
  count: number;
  firstAt: number | null;
  lastAt: number | null;
  firstExampleId: string | null;
  lastExampleId: string | null;
  reason: string;
};

type Row = Omit<AlertFact, 'firstAt' | 'lastAt'> & { firstAt: Date | null; lastAt: Date | null };

/** The relation `w` of a statement about rules, in $1; $2 is the time of the evaluation. */
export const watched = `with w as materialized (
  select * from json_to_recordset($1::json) as w("ruleId" uuid, "projectId" uuid, since timestamptz)
)`;

/** An endpoint that webhooks are sent to. */
export const inUse = 'e.enabled and not e.paused and e.archived_at is null';

/** Runs a statement that begins with `watched` and returns the columns of a fact. */
export async function readFacts(
  client: Queryable,
  sql: string,
  watchers: readonly Watcher[],
  now: number,
  ...more: readonly unknown[]
): Promise<AlertFact[]> {
  if (watchers.length === 0) return [];
  const rules = watchers.map(({ ruleId, projectId, since }) => ({ ruleId, projectId, since }));
  const { rows } = await client.query<Row>(`${watched} ${sql}`, [
    JSON.stringify(rules),
    new Date(now),
    ...more,
  ]);
  return rows.map((row) => ({
    ...row,
    firstAt: row.firstAt?.getTime() ?? null,
    lastAt: row.lastAt?.getTime() ?? null,
  }));
}
