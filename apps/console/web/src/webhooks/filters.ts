import type { QueryOf } from '../api/operations.ts';
import { deliveryStates, webhookStatuses } from '../display/states.ts';

type Query = QueryOf<'get /api/v1/projects/{projectId}/webhooks'>;

/** The periods that count back from the opening of a list, by the text in the URL. */
const periodsMs = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const;

const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

const time = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z$/;

/** The values that each filter takes; true is any text. */
const allowed = {
  status: Object.keys(webhookStatuses),
  state: Object.keys(deliveryStates),
  last: Object.keys(periodsMs),
  statusClass: statusClasses,
  endpointId: true,
  eventType: true,
  q: true,
  webhookId: true,
  correlationId: true,
  reason: true,
  error: true,
  minAttempts: /^\d{1,4}$/,
  since: time,
  until: time,
  cursor: true,
  openedAt: /^\d{13}$/,
} as const satisfies Record<string, true | RegExp | readonly string[]>;

export type FilterName = Exclude<keyof typeof allowed, 'cursor' | 'openedAt'>;
export type Filters = { [Name in FilterName]?: string };
/** The filters, and the page of their list. */
type ListSearch = Filters & { cursor?: string; openedAt?: string };

/** The filters of a URL. One that the list does not know, or with a value that it cannot have, is left out. */
export function parseFilters(search: Record<string, unknown>): ListSearch {
  return Object.fromEntries(
    Object.entries(allowed).flatMap(([name, values]) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' && isAllowed(values, value) ? [[name, value]] : [];
    }),
  );
}

function isAllowed(values: true | RegExp | readonly string[], value: string): boolean {
  if (values === true) return value.length <= 500;
  return values instanceof RegExp ? values.test(value) && value.length < 40 : values.includes(value);
}

/** The query of the API; `openedAt` is when the list was opened. */
export function queryOf({ last, ...others }: Filters, openedAt: number): Omit<Query, 'limit' | 'cursor'> {
  return { ...(others as Query), ...sinceOf(last, openedAt) };
}

/** The begin of a period that counts back from `openedAt`; nothing for a text that is no period. */
export function sinceOf(last: string | undefined, openedAt: number): { since?: string } {
  const period = last === undefined ? undefined : periodsMs[last as keyof typeof periodsMs];
  return period === undefined ? {} : { since: new Date(openedAt - period).toISOString() };
}

export function activeFilters(filters: Filters): [FilterName, string][] {
  return Object.entries(filters) as [FilterName, string][];
}
