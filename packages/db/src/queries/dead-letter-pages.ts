import type { Queryable } from '../queryable.ts';
import { filterSql, filterValues } from './dead-letters.ts';
import {
  collectPage,
  type PageLimit,
  type ReplayCursor,
  type ReplayPage,
  type WhyNotReplayed,
} from './replay-page.ts';
import type { ReplaySelection } from './replay-selection.ts';

type Selection = Extract<ReplaySelection, { kind: 'dead_letters' | 'dead_letter_ids' }>;

type Letter = {
  id: string;
  webhookLogId: string;
  endpointId: string;
  deadAt: Date;
  bytes: number | null;
  whyNot: WhyNotReplayed | null;
};

const lowestId = '00000000-0000-0000-0000-000000000000';

/** The next dead letters of deliveries that were not replayed, the oldest first. */
export async function readDeadLetterPage(
  client: Queryable,
  selection: Selection,
  after: ReplayCursor | null,
  limit: PageLimit,
): Promise<ReplayPage> {
  const rows = await readLetters(client, selection, after, limit);
  const found = rows.map(({ id, deadAt, bytes, ...row }) => ({
    ...row,
    bytes: bytes ?? 0,
    cursor: { at: deadAt.getTime(), id },
  }));
  const isWhole = rows.length < limit.candidatesMax;
  return collectPage(found, limit, isWhole ? null : (found.at(-1)?.cursor ?? null));
}

async function readLetters(
  client: Queryable,
  selection: Selection,
  after: ReplayCursor | null,
  { candidatesMax }: PageLimit,
): Promise<Letter[]> {
  const isById = selection.kind === 'dead_letter_ids';
  // A webhook's partitions are named by the time inside its id.
  const { rows } = await client.query<Letter>(
    `select d.id, d.webhook_log_id as "webhookLogId", d.endpoint_id as "endpointId", d.dead_at as "deadAt", p.bytes,
       case when e.id is null then 'no_endpoint' when e.archived_at is not null then 'endpoint_archived'
         when p.bytes is not null then null
         when exists (select from webhook_logs w where w.id = d.webhook_log_id
           and w.received_at = hqrelay_time_of(d.webhook_log_id)::timestamptz(3)) then 'payload_dropped'
         else 'not_recorded' end as "whyNot"
     from (
       select * from dead_letters where kind = 'delivery' and replayed_at is null and ${filterSql}
         and ($5::uuid[] is null or id = any($5)) and (dead_at, id) > ($6::timestamptz, $7::uuid)
       order by dead_at, id limit $8
     ) as d
     left join endpoints e on e.id = d.endpoint_id
     left join lateral (
       select octet_length(payload) as bytes from webhook_payloads
       where id = d.webhook_log_id and received_at = hqrelay_time_of(d.webhook_log_id)::timestamptz(3)
     ) as p on true
     order by d.dead_at, d.id`,
    [
      ...filterValues(isById ? {} : selection),
      isById ? selection.ids : null,
      after ? new Date(after.at) : '-infinity',
      after?.id ?? lowestId,
      candidatesMax,
    ],
  );
  return rows;
}
