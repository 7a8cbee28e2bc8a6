import { isUuid, isUuidv7, lowestIdAt, timeOfId } from '@hqrelay/domain/ids';
import type { Queryable } from '../queryable.ts';
import { isClientsCorrelation, requestMaxMs } from './webhook-filter.ts';

export type Found = {
  kind: 'project' | 'endpoint' | 'webhook' | 'delivery';
  id: string;
  projectId: string;
  /** The id of the webhook of a delivery. */
  webhookLogId: string | null;
};

/** The newest webhooks that were looked at one by one, for a correlation id that is not the relay's, and for text in payloads. */
export type Scanned = { from: Date | null; to: Date | null; rows: number; complete: boolean };

export type Search = {
  q: string;
  /** The one project that is searched; null searches all. */
  projectId: string | null;
  searchPayloads: boolean;
};

const foundMax = 50;
const webhooksScanned = 2_000;
const attemptsScanned = 20_000;
/** Webhooks, deliveries and attempts that have this id, be it the provider's or the relay's, or this text in the payload; each once. */
export async function search(
  client: Queryable,
  asked: Search,
): Promise<{ items: Found[]; scanned: Scanned }> {
  const { found: inScan, scanned } = await scanWebhooks(client, asked);
  const found = [
    ...(isUuid(asked.q) ? await findById(client, asked) : []),
    ...(await findByWebhookId(client, asked)),
    ...(await findByCorrelationId(client, asked)),
    ...(asked.searchPayloads ? await findBySearchValue(client, asked) : []),
    ...inScan,
  ];
  const once = new Map(found.map((item) => [`${item.kind} ${item.id}`, item]));
  return { items: [...once.values()].slice(0, foundMax), scanned };
}

const ofProject = '($2::uuid is null or project_id = $2)';

/** Projects, endpoints and webhooks by their ids; deliveries that are held or dead, or were attempted lately. */
async function findById(client: Queryable, { q, projectId }: Search): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `select 'project' as kind, id, id as "projectId", null::uuid as "webhookLogId" from projects
       where id = $1 and ($2::uuid is null or id = $2)
     union all select 'endpoint', id, project_id, null from endpoints where id = $1 and ${ofProject}
     union all select 'webhook', id, project_id, id from webhook_logs
       where id = $1 and received_at = $3::timestamptz and ${ofProject}
     union all select 'delivery', id, project_id, webhook_log_id from dead_letters
       where id = $1 and kind = 'delivery' and project_id is not null and ${ofProject}
     union all select 'delivery', h.delivery_id, e.project_id, h.webhook_log_id from held_deliveries h
       join endpoints e on e.id = h.endpoint_id where h.delivery_id = $1 and ${ofProject}
     union all select * from (
       select 'delivery', delivery_id, project_id, webhook_log_id from (
         select * from delivery_attempts where ${ofProject} order by id desc limit ${attemptsScanned}
       ) as a where delivery_id = $1 limit 1
     ) as attempted`,
    [q, projectId, isUuidv7(q) ? new Date(timeOfId(q)) : null],
  );
  return rows;
}

/** Webhooks with this id of their provider. */
async function findByWebhookId(client: Queryable, { q, projectId }: Search): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `select 'webhook' as kind, id, project_id as "projectId", id as "webhookLogId" from webhook_logs
     where webhook_id = $1 and ${ofProject} limit ${foundMax}`,
    [q, projectId],
  );
  return rows;
}

/** Webhooks with this correlation id: a client's by its index, one that the relay made by the time inside it. */
async function findByCorrelationId(client: Queryable, { q, projectId }: Search): Promise<Found[]> {
  const values: unknown[] = [q, projectId];
  let where = `correlation_id = $1 and ${isClientsCorrelation}`;
  if (isUuidv7(q)) {
    const at = timeOfId(q);
    const [from, to] = [at - requestMaxMs, at + requestMaxMs];
    where = 'correlation_id = lower($1) and received_at between $3 and $4 and id between $5 and $6';
    values.push(new Date(from), new Date(to), lowestIdAt(from), lowestIdAt(to));
  }
  const { rows } = await client.query<Found>(
    `select 'webhook' as kind, id, project_id as "projectId", id as "webhookLogId" from webhook_logs
     where ${where} and ${ofProject} limit ${foundMax}`,
    values,
  );
  return rows;
}

/** Webhooks whose payload has this value under a search key of their project. */
async function findBySearchValue(client: Queryable, { q, projectId }: Search): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `select 'webhook' as kind, webhook_log_id as id, project_id as "projectId", webhook_log_id as "webhookLogId"
     from webhook_search_values where value = $1 and ${ofProject} limit ${foundMax}`,
    [q, projectId],
  );
  return rows;
}

type ScannedRow = { id: string; projectId: string; receivedAt: Date; matches: boolean };

async function scanWebhooks(
  client: Queryable,
  { q, projectId, searchPayloads }: Search,
): Promise<{ found: Found[]; scanned: Scanned }> {
  const { rows } = await client.query<ScannedRow>(
    `select w.id, w.project_id as "projectId", w.received_at as "receivedAt",
       w.correlation_id = $1 or ($3 and exists (
         select from webhook_payloads p where p.id = w.id and p.received_at = w.received_at and position($4::bytea in p.payload) > 0
       )) as matches
     from (select * from webhook_logs where ${ofProject} order by ${projectId === null ? '' : 'received_at desc, '}id desc limit ${webhooksScanned}) as w
     order by w.received_at desc, w.id desc`,
    [q, projectId, searchPayloads, Buffer.from(q)],
  );
  const found = rows.filter(({ matches }) => matches).slice(0, foundMax);
  return {
    found: found.map((row) => ({
      kind: 'webhook',
      id: row.id,
      projectId: row.projectId,
      webhookLogId: row.id,
    })),
    scanned: {
      from: rows.at(-1)?.receivedAt ?? null,
      to: rows[0]?.receivedAt ?? null,
      rows: rows.length,
      complete: rows.length < webhooksScanned,
    },
  };
}
