import { matchesEventTypes } from '@hqrelay/domain/inbound/event-filter';
import type { Queryable } from '../queryable.ts';
import { collectPage, type PageLimit, type ReplayCursor, type ReplayPage } from './replay-page.ts';
import type { ReplaySelection } from './replay-selection.ts';

type Selection = Extract<ReplaySelection, { kind: 'webhooks' }>;
type Received = { id: string; receivedAt: Date; eventType: string | null; isQueued: boolean };
type Endpoint = { projectId: string; eventTypes: string[]; archivedAt: Date | null };

/** Rows of `webhook_logs` that one page looks at: a filter may take few of them. */
const receivedMax = 1_000;
const lowestId = '00000000-0000-0000-0000-000000000000';

const isMissing = `not exists (
    select from delivery_status s
    where s.webhook_log_id = c.id and s.received_at = hqrelay_time_of(c.id)::timestamptz(3) and s.endpoint_id = $2
      and s.state in ('delivered', 'waiting', 'held'))
  and not exists (
    select from replay_status r
    where r.webhook_log_id = c.id and r.endpoint_id = $2 and r.requested_at >= hqrelay_time_of(c.id) - interval '1 hour'
      and r.state in ('delivered', 'waiting', 'held'))`;

/**
 * The next webhooks of the period that the endpoint is to get, the oldest first. A page may be empty although there is a
 * next one.
 */
export async function readWebhookPage(
  client: Queryable,
  selection: Selection,
  after: ReplayCursor | null,
  limit: PageLimit,
): Promise<ReplayPage> {
  const { rows: endpoints } = await client.query<Endpoint>(
    'select project_id as "projectId", event_types as "eventTypes", archived_at as "archivedAt" from endpoints where id = $1',
    [selection.endpointId],
  );
  const endpoint = endpoints[0];
  if (!endpoint || endpoint.archivedAt) return { candidates: [], notReplayed: {}, next: null };
  const { endpointId } = selection;
  const received = await readReceived(client, endpoint.projectId, selection, after);
  const matching = received.filter(
    ({ isQueued, eventType }) => isQueued && matchesEventTypes(endpoint.eventTypes, eventType),
  );
  const rows = await readPayloadSizes(
    client,
    matching.map(({ id }) => id),
    selection,
    limit,
  );
  const times = new Map(received.map(({ id, receivedAt }) => [id, receivedAt.getTime()]));
  const cursorOf = (id: string): ReplayCursor => ({ id, at: times.get(id) as number });
  const found = rows.map(({ id, bytes }) => ({
    webhookLogId: id,
    endpointId,
    bytes: bytes ?? 0,
    whyNot: bytes === null ? ('payload_dropped' as const) : null,
    cursor: cursorOf(id),
  }));
  const isFull = rows.length === limit.candidatesMax;
  const last = isFull ? rows.at(-1) : received.at(-1);
  const hasMore = isFull || received.length === receivedMax;
  return collectPage(found, limit, last && hasMore ? cursorOf(last.id) : null);
}

/** Which of the webhooks are candidates, with the sizes of their payloads; null where the payload was dropped. */
async function readPayloadSizes(
  client: Queryable,
  ids: readonly string[],
  { endpointId, missing }: Selection,
  { candidatesMax }: PageLimit,
): Promise<{ id: string; bytes: number | null }[]> {
  const { rows } = await client.query<{ id: string; bytes: number | null }>(
    `select c.id, p.bytes from unnest($1::uuid[]) with ordinality as c (id, place)
     left join lateral (
       select octet_length(payload) as bytes from webhook_payloads
       where id = c.id and received_at = hqrelay_time_of(c.id)::timestamptz(3)
     ) as p on true
     where $2::uuid is not null ${missing ? `and ${isMissing}` : ''}
     order by c.place limit $3`,
    [ids, endpointId, candidatesMax],
  );
  return rows;
}

async function readReceived(
  client: Queryable,
  projectId: string,
  { since, until }: Selection,
  after: ReplayCursor | null,
): Promise<Received[]> {
  const { rows } = await client.query<Received>(
    `select id, received_at as "receivedAt", event_type as "eventType", status = 'queued' as "isQueued" from webhook_logs
     where project_id = $1 and received_at >= $2 and received_at < $3 and (received_at, id) > ($4, $5::uuid)
     order by received_at, id limit ${receivedMax}`,
    [
      projectId,
      new Date(Math.max(since, after?.at ?? since)),
      new Date(until),
      after ? new Date(after.at) : '-infinity',
      after?.id ?? lowestId,
    ],
  );
  return rows;
}
