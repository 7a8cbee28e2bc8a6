import type { ActionResult } from '@hqrelay/actions/action';
import type { Page } from '../api/page.ts';
import type { Reply } from '../api/route.ts';

/** The reply with another value; a refusal stays. */
export function mapReply<T, U>(result: ActionResult<T> | Reply<T>, map: (value: T) => U): Reply<U> {
  return result.kind === 'done' ? { ...result, value: map(result.value) } : result;
}

export function mapItems<T, U>(page: Reply<Page<T>>, map: (item: T) => U): Reply<Page<U>> {
  return mapReply(page, ({ items, ...cursors }) => ({ ...cursors, items: items.map(map) }));
}
