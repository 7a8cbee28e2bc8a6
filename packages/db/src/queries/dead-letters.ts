import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';

export type DeadLetterKind = 'delivery' | 'message' | 'audit_row';

export type NewDeadLetter = {
  /** The delivery's id; for anything else an id derived from its bytes. */
  id: string;
  kind: DeadLetterKind;
  reason: string;
  projectId: string | null;
  webhookLogId: string | null;
  endpointId: string | null;
  /** The bytes of a message or audit row; null for a delivery. */
  content: Buffer | null;
};

/**
 * Commits dead letters, all or none; one that exists already stays as it is. That of a cancelled delivery is closed: its last
 * attempt was in flight. `now` in ms. Throws the error of Postgres.
 */
export async function insertDeadLetters(
  pool: pg.Pool,
  letters: readonly NewDeadLetter[],
  now: number,
): Promise<void> {
  const contents: Buffer[] = [];
  let start = 0;
  const facts = letters.map(({ content, reason, ...ids }) => {
    const fact = { ...ids, reason: storable(reason), start: content && start, length: content?.length };
    if (content) contents.push(content);
    start += content?.length ?? 0;
    return fact;
  });
  await pool.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, content, dead_at, replayed_at)
     select id, kind, reason, "projectId", "webhookLogId", "endpointId", substring($2::bytea from start + 1 for length), $3,
       (select cancelled_at from delivery_decisions x where x.delivery_id = l.id)
     from json_to_recordset($1::json) as l(id uuid, kind dead_letter_kind, reason text, "projectId" uuid, "webhookLogId" uuid,
       "endpointId" uuid, start int, length int)
     on conflict do nothing`,
    [JSON.stringify(facts), Buffer.concat(contents), new Date(now)],
  );
}

/** Postgres stores neither NUL nor half of a surrogate pair in text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** Deliveries that are dead and were not replayed. */
export async function countOpenDeadLetters(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from dead_letters where replayed_at is null and kind = 'delivery'`,
  );
  return rows[0]?.count ?? 0;
}

export type DeadLetterFilter = {
  projectId?: string | undefined;
  endpointId?: string | undefined;
  /** ms since epoch: it died at `since` or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
};

/** The condition of a filter over `dead_letters`, and its four values. */
export const filterSql = `($1::uuid is null or project_id = $1) and ($2::uuid is null or endpoint_id = $2)
  and dead_at >= coalesce($3::timestamptz, '-infinity') and dead_at < coalesce($4::timestamptz, 'infinity')`;

export function filterValues({ projectId, endpointId, since, until }: DeadLetterFilter): unknown[] {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
  return [projectId ?? null, endpointId ?? null, time(since), time(until)];
}

export type DeadLetter = Omit<NewDeadLetter, 'content'> & {
  /** The provider's; null where the webhook is not recorded. */
  webhookId: string | null;
  endpointUrl: string | null;
  attempts: number;
  lastStatusCode: number | null;
  lastError: string | null;
  deadAt: Date;
  replayId: string | null;
  replayedAt: Date | null;
};

/** The newest first, at most `limit`, and how many there are in all; those that were replayed only if `all` are wanted. */
export async function listDeadLetters(
  pool: pg.Pool,
  { filter, all, limit }: { filter: DeadLetterFilter; all: boolean; limit: number },
): Promise<{ deadLetters: DeadLetter[]; total: number }> {
  const where = `${filterSql} ${all ? '' : 'and replayed_at is null'}`;
  const values = filterValues(filter);
  const counted = await pool.query<{ total: number }>(
    `select count(*)::int as total from dead_letters where ${where}`,
    values,
  );
  const { rows } = await pool.query<DeadLetter>(
    `select ${deadLetter} from (
       select * from dead_letters where ${where} order by dead_at desc, id desc limit $5
     ) as d ${withDetails} order by d.dead_at desc, d.id desc`,
    [...values, limit],
  );
  return { deadLetters: rows, total: counted.rows[0]?.total ?? 0 };
}

/** Those of these ids that exist. */
export async function readDeadLetters(pool: pg.Pool, ids: readonly string[]): Promise<DeadLetter[]> {
  const { rows } = await pool.query<DeadLetter>(
    `select ${deadLetter} from dead_letters d ${withDetails} where d.id = any($1::uuid[])`,
    [ids],
  );
  return rows;
}

const deadLetter = `d.id, d.kind, d.reason, d.project_id as "projectId", d.webhook_log_id as "webhookLogId",
  w.webhook_id as "webhookId", d.endpoint_id as "endpointId", e.url as "endpointUrl", coalesce(a.attempts, 0) as attempts,
  a.last_status_code as "lastStatusCode", a.last_error as "lastError", d.dead_at as "deadAt", d.replay_id as "replayId",
  d.replayed_at as "replayedAt"`;

// A webhook's partition, and the first one that its attempts can be in, are named by the time inside its id.
const withDetails = `
  left join endpoints e on e.id = d.endpoint_id
  left join lateral (
    select webhook_id from webhook_logs
    where id = d.webhook_log_id and received_at = hqrelay_time_of(d.webhook_log_id)::timestamptz(3)
  ) as w on true
  left join lateral (
    select count(*)::int as attempts, (array_agg(status_code order by attempt_num desc))[1] as last_status_code,
      (array_agg(error order by attempt_num desc))[1] as last_error
    from delivery_attempts
    where webhook_log_id = d.webhook_log_id and delivery_id = d.id
      and attempted_at >= hqrelay_time_of(d.webhook_log_id) - interval '1 hour'
  ) as a on true`;

/** A page of the dead letters of one project; those that were replayed only if `all` are wanted. */
export function readDeadLetterList(
  client: Queryable,
  { filter, all }: { filter: DeadLetterFilter; all: boolean },
  page: PageRequest,
): Promise<DeadLetter[]> {
  const list = {
    columns: deadLetter,
    from: `dead_letters d ${withDetails}`,
    where: [
      filterSql.replaceAll(/\b(project_id|endpoint_id|dead_at)\b/g, 'd.$1'),
      ...(all ? [] : ['d.replayed_at is null']),
    ],
    values: filterValues(filter),
    at: 'd.dead_at',
    id: 'd.id',
  };
  return readKeysetPage<DeadLetter>(client, list, page);
}
