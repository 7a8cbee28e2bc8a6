import { timeOfId, uuidv7 } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { OutboxRow } from './append-audit.ts';
import { readRecordedWebhooks, type RecordedWebhook } from './replays.ts';

export type StrandedOptions = {
  /** ms since epoch: webhooks received before it are looked at. */
  until: number;
  /** The message of a webhook that is put back. */
  encode: (webhook: RecordedWebhook) => Pick<OutboxRow, 'exchange' | 'routingKey' | 'message'>;
};

/** `hasMore`: another page follows. */
export type StrandedPage = { putBack: string[]; hasMore: boolean };

/** Rows of `webhook_logs` that one page looks at. */
const rowsMax = 5_000;
const putBackMax = 100;
/** Of payloads that are in memory at once; the last one may exceed it. */
const bytesMax = 8 << 20;
/** How far back the first search begins. */
const firstSearchMs = 86_400_000;

const noPage: StrandedPage = { putBack: [], hasMore: false };

/**
 * Looks at the next webhooks in the order of their ids, and inserts a message into the outbox for each stranded one: it is
 * recorded and owed, and none of its deliveries has an attempt, is held or is dead. Postgres cannot know the messages of the
 * broker: the caller chooses `until` so that the broker has no message of a webhook received before it. While the outbox has
 * messages, which may be of these webhooks, the search rests. The messages and the progress are one transaction, and one
 * worker searches at a time, so no webhook is looked at twice.
 */
export async function putBackStranded(
  pool: pg.Pool,
  { until, encode }: StrandedOptions,
): Promise<StrandedPage> {
  return inTransaction(pool, async (client) => {
    const lastId = await lockProgress(client, until);
    if (lastId === undefined || lastId >= lowestIdOf(until)) return noPage;
    const { rowCount: waiting } = await client.query('select from outbox limit 1');
    if (waiting) return noPage;

    const page = await readPage(client, lastId, until);
    const fitting = firstFitting(page.stranded);
    const isCut = fitting.length < page.stranded.length;
    const putBack = await insertMessages(
      client,
      fitting.map(({ id }) => id),
      encode,
    );
    const progress = isCut ? fitting.at(-1)!.id : (page.last ?? lowestIdOf(until));
    await client.query('update stranded_search set last_id = $1', [progress]);
    return { putBack, hasMore: isCut || page.last !== null };
  });
}

/** The last id that was looked at; undefined while another worker searches. */
async function lockProgress(client: pg.PoolClient, until: number): Promise<string | undefined> {
  await client.query('insert into stranded_search (id, last_id) values (1, $1) on conflict do nothing', [
    lowestIdOf(until - firstSearchMs),
  ]);
  const { rows } = await client.query<{ last_id: string }>(
    'select last_id from stranded_search for update skip locked',
  );
  return rows[0]?.last_id;
}

type Stranded = { id: string; bytes: number };

/** `last` is null on the last page. The view is exact and costs ten times the first test, which few webhooks pass. */
async function readPage(
  client: pg.PoolClient,
  lastId: string,
  until: number,
): Promise<{ last: string | null; stranded: Stranded[] }> {
  const { rows } = await client.query<{ last: string | null; stranded: Stranded[] }>(
    `with page as materialized (
       select id, received_at, status, endpoint_ids, payload_bytes from webhook_logs
       where id > $1 and id < $2 and received_at >= $3 and received_at < $4 order by id limit $5
     ), untried as materialized (
       select id, received_at, payload_bytes from page
       where status = 'queued' and endpoint_ids <> '{}' and not exists (
         select from delivery_attempts a
         where a.webhook_log_id = page.id and a.lane <> 'replay'
           and a.attempted_at >= $3::timestamptz - interval '1 day' and a.attempted_at < now() + interval '1 day')
     )
     select
       (select id from page order by id offset $5 - 1 limit 1) as last,
       coalesce((
         select json_agg(json_build_object('id', u.id, 'bytes', u.payload_bytes) order by u.id) from untried u
         where not exists (
           select from delivery_status s
           where s.webhook_log_id = u.id and s.received_at = u.received_at and (s.state <> 'waiting' or s.attempts > 0))
       ), '[]') as stranded`,
    [lastId, lowestIdOf(until), new Date(timeOfId(lastId)), new Date(until), rowsMax],
  );
  return rows[0]!;
}

function firstFitting(stranded: readonly Stranded[]): Stranded[] {
  let bytes = 0;
  return stranded.slice(0, putBackMax).filter((each, index) => {
    const isFitting = bytes < bytesMax || index === 0;
    bytes += each.bytes;
    return isFitting;
  });
}

/** Returns the ids of those whose payload is recorded. */
async function insertMessages(
  client: pg.PoolClient,
  ids: readonly string[],
  encode: StrandedOptions['encode'],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const webhooks = await readRecordedWebhooks(client, ids);
  for (const [id, webhook] of webhooks) {
    const { exchange, routingKey, message } = encode(webhook);
    await client.query(
      `insert into outbox (id, exchange, routing_key, message, created_at) values ($1, $2, $3, $4, now())
       on conflict (id) do nothing`,
      [id, exchange, routingKey, message],
    );
  }
  return [...webhooks.keys()];
}

/** The lowest id of a webhook received at this time or later, ms since epoch. */
function lowestIdOf(time: number): string {
  return uuidv7(time, new Uint8Array(10));
}
