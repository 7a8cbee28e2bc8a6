import { timeOfId } from '@hqrelay/domain/ids';
import { Parameters } from '../parameters.ts';
import type { Queryable } from '../queryable.ts';
import type { PageLimit, ReplayCursor, ReplayPage, WhyNotReplayed } from './replay-page.ts';
import type { ReplaySelection } from './replay-selection.ts';
import { deliveryChecks, type WebhookFilter } from './webhook-filter.ts';
import { readWebhookList } from './webhook-list.ts';

type Selection = Extract<ReplaySelection, { kind: 'filtered_webhooks' | 'webhook_ids' }>;
type Matching = { webhooks: ReplayCursor[]; next: ReplayCursor | null };
type Owed = { webhookLogId: string; endpointId: string; bytes: number | null; whyNot: WhyNotReplayed | null };

/** Webhooks of one page. Each may owe several deliveries, which stay together. */
const webhooksMax = 200;

/** The next deliveries that webhooks owe, the oldest webhook first. A page may be empty although there is a next one. */
export async function readOwedPage(
  client: Queryable,
  selection: Selection,
  after: ReplayCursor | null,
  { candidatesMax, bytesMax }: PageLimit,
): Promise<ReplayPage> {
  const limit = Math.min(candidatesMax, webhooksMax);
  const { webhooks, next } =
    selection.kind === 'webhook_ids'
      ? nextOfIds(selection.ids, after, limit)
      : await readMatching(client, selection.filter, after, limit);
  const owed = await readOwed(client, webhooks, selection.kind === 'webhook_ids' ? null : selection.filter);
  const page: ReplayPage = { candidates: [], notReplayed: {}, next };
  let bytes = 0;
  for (const [index, { id }] of webhooks.entries()) {
    const deliveries = owed.filter(({ webhookLogId }) => webhookLogId === id);
    bytes += deliveries.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
    if (bytes > bytesMax && page.candidates.length > 0) return { ...page, next: webhooks[index - 1]! };
    for (const { webhookLogId, endpointId, whyNot } of deliveries) {
      if (whyNot === null) page.candidates.push({ webhookLogId, endpointId });
      else page.notReplayed[whyNot] = (page.notReplayed[whyNot] ?? 0) + 1;
    }
  }
  return page;
}

function nextOfIds(ids: readonly string[], after: ReplayCursor | null, limit: number): Matching {
  const left = [...new Set(ids)].toSorted().filter((id) => after === null || id > after.id);
  const webhooks = left.slice(0, limit).map((id) => ({ at: timeOfId(id), id }));
  return { webhooks, next: left.length > limit ? webhooks.at(-1)! : null };
}

async function readMatching(
  client: Queryable,
  filter: WebhookFilter,
  after: ReplayCursor | null,
  limit: number,
): Promise<Matching> {
  const { rows, scannedTo } = await readWebhookList(client, filter, {
    position: after,
    direction: 'newer',
    limit,
  });
  const found = rows.toReversed().map(({ id, receivedAt }) => ({ at: receivedAt.getTime(), id }));
  const webhooks = found.slice(0, limit);
  return { webhooks, next: found.length > limit ? webhooks.at(-1)! : scannedTo };
}

/** The deliveries of these webhooks that the filter's conditions about a delivery take, with the sizes of their payloads. */
async function readOwed(
  client: Queryable,
  webhooks: readonly ReplayCursor[],
  filter: WebhookFilter | null,
): Promise<Owed[]> {
  if (webhooks.length === 0) return [];
  const parameters = new Parameters();
  const ids = parameters.add(
    webhooks.map(({ id }) => id),
    'uuid[]',
  );
  const checks = filter === null ? [] : deliveryChecks(filter, parameters);
  if (filter?.endpointId !== undefined)
    checks.push(`s.endpoint_id = ${parameters.add(filter.endpointId, 'uuid')}`);
  if (filter?.state === 'dead_lettered') checks.push('s.replayed_at is null');
  const { rows } = await client.query<Owed>(
    `select s.webhook_log_id as "webhookLogId", s.endpoint_id as "endpointId", p.bytes,
       case when e.id is null then 'no_endpoint' when e.archived_at is not null then 'endpoint_archived'
         when p.bytes is null then 'payload_dropped' end as "whyNot"
     from unnest(${ids}) as c (id)
     join delivery_status s on s.webhook_log_id = c.id and s.received_at = hqrelay_time_of(c.id)::timestamptz(3)
     left join endpoints e on e.id = s.endpoint_id
     left join lateral (
       select octet_length(payload) as bytes from webhook_payloads
       where id = c.id and received_at = hqrelay_time_of(c.id)::timestamptz(3)
     ) as p on true
     ${checks.length > 0 ? `where ${checks.join(' and ')}` : ''}
     order by s.webhook_log_id, s.endpoint_id`,
    parameters.values,
  );
  return rows;
}
