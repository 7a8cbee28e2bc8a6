import { hash } from 'node:crypto';
import type { PageRequest, Position } from '@hqrelay/db/keyset-page';
import { isUuid } from '@hqrelay/domain/ids';
import { refuse, reply, type Reply } from './route.ts';

export type Page<T> = { items: T[]; nextCursor: string | null; prevCursor: string | null };

type Asked = { cursor?: string | undefined; limit: number };

/**
 * One page of a list. A cursor belongs to its filter: with another one it is refused. Rows that are inserted meanwhile neither
 * repeat a row nor hide one.
 */
export async function readPage<Row>(
  filter: Readonly<Record<string, unknown>>,
  { cursor, limit }: Asked,
  read: (page: PageRequest) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
): Promise<Reply<Page<Row>>> {
  const list = hash('sha256', JSON.stringify(filter)).slice(0, 16);
  const start = cursor === undefined ? first : parseCursor(cursor, list);
  if (!start) {
    return refuse(400, 'cursor.invalid', 'query.cursor: this is no cursor of this list with this filter');
  }
  const rows = await read({ ...start, limit });
  const hasMore = rows.length > limit;
  const isBack = start.direction === 'newer';
  const items = isBack && hasMore ? rows.slice(1) : rows.slice(0, limit);
  const cursorAt = (row: Row | undefined, direction: PageRequest['direction']) =>
    row === undefined ? null : encodeCursor(list, direction, positionOf(row));
  return reply({
    items,
    nextCursor: isBack || hasMore ? cursorAt(items.at(-1), 'older') : null,
    prevCursor: (isBack ? hasMore : start.position !== null) ? cursorAt(items[0], 'newer') : null,
  });
}

export function byCreation({ createdAt, id }: { createdAt: Date; id: string }): Position {
  return { at: createdAt.getTime(), id };
}

const first = { position: null, direction: 'older' } as const;

function encodeCursor(list: string, direction: PageRequest['direction'], { at, id }: Position): string {
  return Buffer.from(JSON.stringify([list, direction, at, id])).toString('base64url');
}

function parseCursor(
  cursor: string,
  list: string,
): { position: Position; direction: PageRequest['direction'] } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [ofList, direction, at, id] = parsed as unknown[];
  if (ofList !== list || (direction !== 'older' && direction !== 'newer')) return undefined;
  // The largest ms since epoch that a Date holds.
  if (typeof at !== 'number' || !Number.isInteger(at) || Math.abs(at) > 8.64e15) return undefined;
  return typeof id === 'string' && isUuid(id) ? { position: { at, id }, direction } : undefined;
}
