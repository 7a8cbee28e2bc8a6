import { useState } from 'react';

const minuteMs = 60_000;

/**
 * When a list was opened, to the minute: a period such as "the last 24 hours" counts back from then, so that the cursors of
 * the list stay those of one filter. A page behind the first has it in its URL, and shows the same rows after a reload.
 */
export function useOpenedAt(inUrl: string | undefined): number {
  const [mountedAt] = useState(() => Math.floor(Date.now() / minuteMs) * minuteMs);
  return inUrl === undefined ? mountedAt : Number(inUrl);
}

/** The part of the URL that leads to a page of a list; the newest page has none. */
export function pageParams(cursor: string | undefined, openedAt: number) {
  return { cursor, openedAt: cursor === undefined ? undefined : String(openedAt) };
}
