import { hash } from 'node:crypto';
import type { PageRequest, Position } from '@hqrelay/db/keyset-page';
import { isUuid } from '@hqrelay/domain/ids';
import { refuse, reply, type Reply } from './route.ts';

export type Page<T> = { items: T[]; nextCursor: string | null; prevCursor: string | null };

/** The rows of a page, and one more when there is one. `scannedTo` is set where a search ended before the list does. */
type Read<Row> = { rows: Row[]; scannedTo: Position | null };

type Asked = { cursor?: string | undefined; limit: number };

/**
 * One page of a list. A cursor belongs to its filter: with another one it is refused. Rows that are inserted meanwhile neither
 * repeat a row nor hide one.
 */
export async function readPage<Row>(
  filter: Readonly<Record<string, unknown>>,
  { cursor: given, limit }: Asked,
  read: (page: PageRequest) => Promise<Row[] | Read<Row>>,
  positionOf: (row: Row) => Position,
): Promise<Reply<Page<Row>>> {
  const list = hash('sha256', JSON.stringify(filter)).slice(0, 16);
  const start = given === undefined ? newest : parseCursor(given, list);
  if (!start) {
    return refuse(400, 'cursor.invalid', 'query.cursor: this is no cursor of this list with this filter');
  }
  const found = await read({ ...start, limit });
  const { rows, scannedTo } = Array.isArray(found) ? { rows: found, scannedTo: null } : found;
  const isBack = start.direction === 'newer';
  const hasMore = rows.length > limit;
  const items = isBack && hasMore ? rows.slice(1) : rows.slice(0, limit);
  const cursor = (direction: PageRequest['direction'], position: Position | null) =>
    position && encodeCursor(list, direction, position);
  const first = items[0] ? positionOf(items[0]) : null;
  const last = items.length > 0 ? positionOf(items.at(-1) as Row) : null;
  const from = start.position;
  return reply({
    items,
    nextCursor: isBack
      ? cursor('older', last ?? (from && { ...from, id: highestId }))
      : cursor('older', hasMore ? last : scannedTo),
    prevCursor: isBack
      ? cursor('newer', hasMore ? first : scannedTo)
      : cursor('newer', from && (first ?? { ...from, id: lowestId })),
  });
}

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const lowestId = '00000000-0000-0000-0000-000000000000';

export function byCreation({ createdAt, id }: { createdAt: Date; id: string }): Position {
  return { at: createdAt.getTime(), id };
}

const newest = { position: null, direction: 'older' } as const;

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
