import type { PageRequest, Position } from '../keyset-page.ts';
import { Parameters } from '../parameters.ts';
import type { Queryable } from '../queryable.ts';
import { checksOf, scanOf, type WebhookFilter } from './webhook-filter.ts';
import { listedWebhookColumns, type ListedWebhook } from './webhooks.ts';

/** `scannedTo`: the last row that was looked at, where the page ends before the list does. */
export type WebhookListPage = { rows: ListedWebhook[]; scannedTo: Position | null };

const countMax = 10_000;
/** Counting looks at more rows than a page does. */
const countScanFactor = 10;

/**
 * A page of a project's webhooks, the newest first, with their deliveries counted by state; one row more than `limit` when there is
 * one. A filter that no index serves looks at a bounded number of rows: the page is then short, or empty, and `scannedTo` says
 * where the next one begins.
 */
export async function readWebhookList(
  client: Queryable,
  asked: WebhookFilter,
  { position, direction, limit }: PageRequest,
): Promise<WebhookListPage> {
  const filter = await preferSearchValue(client, asked);
  const parameters = new Parameters();
  const { from, where, order } = scanOf(filter, parameters, { position, direction });
  const way = direction === 'older' ? 'desc' : 'asc';
  const ordered = `order by ${order.map((column) => `${column} ${way}`).join(', ')}`;
  const scan = `from ${from} where ${where.join(' and ')} ${ordered}`;
  const scanValues = [...parameters.values];
  const { where: checks, rowsMax } = checksOf(filter, parameters);
  const inner =
    checks.length === 0
      ? `select w.* ${scan}`
      : `select w.* from (select w.* ${scan} limit ${rowsMax}) as w where ${checks.join(' and ')}
         ${ordered}`;
  const { rows } = await client.query<ListedWebhook>(
    `select ${listedWebhookColumns} from (${inner} limit ${limit + 1}) as w order by w.received_at desc, w.id desc`,
    parameters.values,
  );
  if (rows.length > limit || checks.length === 0) return { rows, scannedTo: null };
  const end = await client.query<{ at: Date; id: string }>(
    `select w.received_at as at, w.id ${scan} offset ${rowsMax - 1} limit 1`,
    scanValues,
  );
  const last = end.rows[0];
  return { rows, scannedTo: last ? { at: last.at.getTime(), id: last.id } : null };
}

/** How many webhooks the filter matches; `capped` when there may be more, at 10,000 or at the bound of rows that were looked at. */
export async function countWebhooks(
  client: Queryable,
  asked: WebhookFilter,
): Promise<{ count: number; capped: boolean }> {
  const filter = await preferSearchValue(client, asked);
  const parameters = new Parameters();
  const { from, where, order } = scanOf(filter, parameters, { position: null, direction: 'older' });
  const { where: checks, rowsMax } = checksOf(filter, parameters);
  const scanMax = checks.length === 0 ? countMax + 1 : rowsMax * countScanFactor;
  const scan = `from ${from} where ${where.join(' and ')}`;
  const looked =
    checks.length === 0
      ? // Any rows do, so that an index alone can be read.
        `select true as matches ${scan} limit ${scanMax}`
      : `select ${checks.join(' and ')} as matches
         from (select w.* ${scan} order by ${order.join(' desc, ')} desc limit ${scanMax}) as w`;
  const { rows } = await client.query<{ scanned: number; count: number }>(
    `select count(*)::int as scanned, count(*) filter (where matches)::int as count from (${looked}) as looked`,
    parameters.values,
  );
  const { scanned = 0, count = 0 } = rows[0] ?? {};
  return { count: Math.min(count, countMax), capped: count > countMax || scanned === scanMax };
}

/** Asks for the value of a search key where a webhook of the period has it: then that is what people look for. */
async function preferSearchValue(client: Queryable, filter: WebhookFilter): Promise<WebhookFilter> {
  const { q, projectId, since, until } = filter;
  if (q === undefined) return filter;
  const { rowCount } = await client.query(
    `select from webhook_search_values where value = $1 and project_id = $2 and received_at >= $3 and received_at < $4 limit 1`,
    [q, projectId, new Date(since), new Date(until)],
  );
  return rowCount ? { ...filter, q: undefined, searchValue: q } : filter;
}
