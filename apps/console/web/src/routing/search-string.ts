/** `?status=queued&q=4711` as text, where the router's own form would quote `4711` to tell it from a number. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}
