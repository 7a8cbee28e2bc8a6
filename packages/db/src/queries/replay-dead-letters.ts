import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { filterSql, filterValues, type DeadLetterFilter } from './dead-letters.ts';
import {
  insertReplays,
  lastReplayDue,
  newReplay,
  readRecordedWebhooks,
  type Replay,
  type ReplayOptions,
} from './replays.ts';

/** Which dead letters of deliveries that were not replayed: those of these ids, or those that a filter names. */
export type Selection = { ids: readonly string[] } | { filter: DeadLetterFilter };

export type WhyNotReplayed =
  /** Its payload is older than payloads are kept. */
  | 'payload_gone'
  /** Its row has not come to Postgres (yet). */
  | 'not_recorded'
  | 'no_endpoint';

type Letter = {
  id: string;
  webhookLogId: string;
  endpointId: string;
  projectId: string;
  deadAt: Date;
  /** Of its payload. */
  bytes: number | null;
  whyNot: WhyNotReplayed | null;
};

export type ReplayBatchOptions = ReplayOptions & {
  perSecond: number;
  /** What went before in the same command: none is due before that. */
  after: BatchEnd | null;
};

/** The last dead letter that was looked at, and when the next replay may be due, ms since epoch. */
export type BatchEnd = { deadAt: Date; id: string; nextDueAt: number };

export type ReplayedBatch = {
  replays: (Replay & { deadLetterId: string })[];
  notReplayed: { id: string; why: WhyNotReplayed }[];
  /** Null when nothing is left. */
  end: BatchEnd | null;
};

const lettersMax = 500;
/** Of payloads that are in memory at once. */
const bytesMax = 8 << 20;

// A webhook's partitions are named by the time inside its id.
const whyNotSql = `case when e.id is null then 'no_endpoint' when p.bytes is not null then null
  when exists (select from webhook_logs w where w.id = d.webhook_log_id
    and w.received_at = hqrelay_time_of(d.webhook_log_id)::timestamptz(3)) then 'payload_gone'
  else 'not_recorded' end`;
const withPayload = `left join endpoints e on e.id = d.endpoint_id
  left join lateral (
    select octet_length(payload) as bytes from webhook_payloads
    where id = d.webhook_log_id and received_at = hqrelay_time_of(d.webhook_log_id)::timestamptz(3)
  ) as p on true`;

/**
 * Replays the next dead letters of a selection, those that died first at first, in one transaction: their replays, and that
 * they were replayed. So a command that died half-way goes on when it is given again, and of two at once each takes others.
 * Due one after another at `perSecond`; those of a filter not before what other replays of their projects still have before
 * them. Throws when Postgres fails.
 */
export async function replayDeadLetters(
  pool: pg.Pool,
  selection: Selection,
  options: ReplayBatchOptions,
): Promise<ReplayedBatch> {
  return inTransaction(pool, async (client) => {
    // One after another, so that each sees what is due before it.
    await client.query("select pg_advisory_xact_lock(hashtext('hqrelay_replays'))");
    const letters = await takeLetters(client, selection, options.after);
    const last = letters.at(-1);
    if (!last) return { replays: [], notReplayed: [], end: null };

    const replayable = letters.filter(({ whyNot }) => whyNot === null);
    const intervalMs = 1_000 / options.perSecond;
    const earliest = Math.max(options.now, options.after?.nextDueAt ?? 0);
    const others =
      'filter' in selection
        ? await lastReplayDue(client, [...new Set(replayable.map(({ projectId }) => projectId))])
        : null;
    const startAt = Math.max(earliest, others === null ? 0 : others + intervalMs);
    const webhooks = await readRecordedWebhooks(
      client,
      replayable.map(({ webhookLogId }) => webhookLogId),
    );
    const gone = new Set(replayable.filter((letter) => !webhooks.has(letter.webhookLogId)));
    const made = replayable.flatMap((letter, index) => {
      const webhook = webhooks.get(letter.webhookLogId);
      // Dropped since its bytes were counted.
      if (!webhook) return [];
      const dueAt = Math.floor(startAt + index * intervalMs);
      const replay = newReplay(webhook.id, letter.endpointId, options.now, dueAt);
      return [{ replay, message: options.encode(webhook, replay), deadLetterId: letter.id }];
    });
    await insertReplays(client, made, options);
    await client.query(
      `update dead_letters d set replay_id = r.replay_id, replayed_at = $3
       from unnest($1::uuid[], $2::uuid[]) as r (id, replay_id) where d.id = r.id`,
      [
        made.map((each) => each.deadLetterId),
        made.map((each) => each.replay.replayId),
        new Date(options.now),
      ],
    );
    return {
      replays: made.map(({ replay, deadLetterId }) => ({ ...replay, deadLetterId })),
      notReplayed: letters.flatMap((letter) => {
        const why = gone.has(letter) ? 'payload_gone' : letter.whyNot;
        return why === null ? [] : [{ id: letter.id, why }];
      }),
      end: { deadAt: last.deadAt, id: last.id, nextDueAt: startAt + replayable.length * intervalMs },
    };
  });
}

/** Locks the next ones that nobody else has locked, as many as memory may hold the payloads of. */
async function takeLetters(
  client: pg.PoolClient,
  selection: Selection,
  after: BatchEnd | null,
): Promise<Letter[]> {
  const { rows } = await client.query<Letter>(
    `select d.id, d.webhook_log_id as "webhookLogId", d.endpoint_id as "endpointId", d.project_id as "projectId",
       d.dead_at as "deadAt", p.bytes, ${whyNotSql} as "whyNot"
     from (
       select * from dead_letters where ${openSql} and (dead_at, id) > ($6::timestamptz, $7::uuid)
       order by dead_at, id limit ${lettersMax} for update skip locked
     ) as d ${withPayload} order by d.dead_at, d.id`,
    [...openValues(selection), after?.deadAt ?? '-infinity', after?.id ?? lowestId],
  );
  let bytes = 0;
  return rows.filter((row, index) => (bytes += row.bytes ?? 0) <= bytesMax || index === 0);
}

const lowestId = '00000000-0000-0000-0000-000000000000';

const openSql = `kind = 'delivery' and replayed_at is null and ${filterSql} and ($5::uuid[] is null or id = any($5))`;

function openValues(selection: Selection): unknown[] {
  const filter = 'filter' in selection ? selection.filter : {};
  return [...filterValues(filter), 'ids' in selection ? selection.ids : null];
}

/** What `replayDeadLetters` would replay, by endpoint, and what it would not, and why. Changes nothing. */
export async function countReplayable(
  pool: pg.Pool,
  selection: Selection,
): Promise<{ endpointId: string; whyNot: WhyNotReplayed | null; count: number }[]> {
  const { rows } = await pool.query<{ endpointId: string; whyNot: WhyNotReplayed | null; count: number }>({
    text: `select d.endpoint_id as "endpointId", ${whyNotSql} as "whyNot", count(*)::int as count
      from (select * from dead_letters where ${openSql}) as d ${withPayload} group by 1, 2 order by 1, 2`,
    values: openValues(selection),
    // Every dead letter's payload is looked for.
    query_timeout: 120_000,
  } as pg.QueryConfig);
  return rows;
}
