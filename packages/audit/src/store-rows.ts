import { isAboutRows } from '@hqrelay/db/postgres';
import { appendAudit, timeOfRow, type AuditRow } from '@hqrelay/db/queries/append-audit';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import type pg from 'pg';

export type StoreOutcome =
  | { row: AuditRow; kind: 'stored' }
  /** Another worker made the same attempt and recorded it first. */
  | { row: AuditRow; kind: 'overtaken' }
  | { row: AuditRow; kind: 'unstorable'; reason: string };

const noPartition = '23514';

/**
 * Commits the rows. It makes, once, partitions for a month that has none, and bisects a batch that one bad row fails until that row
 * stands alone. Throws when the rows are not at fault: Postgres cannot be reached, cannot write, or has another schema.
 */
export async function storeRows(
  pool: pg.Pool,
  rows: readonly AuditRow[],
  mayMakePartitions = true,
): Promise<StoreOutcome[]> {
  try {
    const overtaken = await appendAudit(pool, rows);
    return rows.map((row) => ({
      row,
      kind: row.kind === 'attempt' && overtaken.has(row.attempt.id) ? 'overtaken' : 'stored',
    }));
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    if ((error as { code?: string }).code === noPartition && mayMakePartitions) {
      await ensurePartitions(pool, rows);
      return storeRows(pool, rows, false);
    }
    const [first] = rows;
    if (rows.length === 1 && first) {
      return [
        { row: first, kind: 'unstorable', reason: error instanceof Error ? error.message : String(error) },
      ];
    }
    const middle = rows.length >> 1;
    return [
      ...(await storeRows(pool, rows.slice(0, middle), mayMakePartitions)),
      ...(await storeRows(pool, rows.slice(middle), mayMakePartitions)),
    ];
  }
}

/** Throws when Postgres does not make the partitions for another reason than a row's time. */
async function ensurePartitions(pool: pg.Pool, rows: readonly AuditRow[]): Promise<void> {
  const months = new Map(
    rows.map((row) => [new Date(timeOfRow(row)).toISOString().slice(0, 7), timeOfRow(row)]),
  );
  for (const at of months.values()) {
    try {
      await ensurePartition(pool, at);
    } catch (error) {
      // Postgres makes no partition for a time years away: the row is at fault, and is found unstorable.
      if (!isAboutRows(error)) throw error;
    }
  }
}
