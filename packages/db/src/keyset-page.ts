import type { Queryable } from './queryable.ts';

/** Where a page begins: the row before it, in the order of the list. `at` in ms since epoch. */
export type Position = { at: number; id: string };

export type PageRequest = {
  /** Null begins at the newest row. */
  position: Position | null;
  /** `older` goes on through the list, the newest row first; `newer` goes back. */
  direction: 'older' | 'newer';
  limit: number;
};

export type KeysetQuery = {
  columns: string;
  from: string;
  /** Conditions, joined by AND, with parameters from $1 on. */
  where: readonly string[];
  values: readonly unknown[];
  /** The columns that the list is ordered by. */
  at: string;
  id: string;
};

/** The rows of a page, the newest first, and one more at the far end when there is one. */
export async function readKeysetPage<Row extends object>(
  client: Queryable,
  { columns, from, where, values, at, id }: KeysetQuery,
  { position, direction, limit }: PageRequest,
): Promise<Row[]> {
  const order = direction === 'older' ? 'desc' : 'asc';
  const next = values.length + 1;
  const conditions = [...where];
  const parameters = [...values, limit + 1];
  if (position) {
    // The first condition alone names the partitions and the index range.
    const sign = direction === 'older' ? '<' : '>';
    conditions.push(
      `${at} ${sign}= $${next + 1}::timestamptz`,
      `(${at}, ${id}) ${sign} ($${next + 1}::timestamptz, $${next + 2}::uuid)`,
    );
    parameters.push(new Date(position.at), position.id);
  }
  const { rows } = await client.query<Row>(
    `select ${columns} from ${from} ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by ${at} ${order}, ${id} ${order} limit $${next}`,
    parameters,
  );
  return direction === 'older' ? rows : rows.reverse();
}
