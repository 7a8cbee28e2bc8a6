import type { AlertChannel, AlertType } from '@hqrelay/domain/alerts/alert-kind';
import type { AlertMessage } from '@hqrelay/domain/alerts/alert-message';
import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';
import { waitsForRetry } from './alert-rules.ts';

/** Times are ms since epoch. */
export type NewAlertMessage = Omit<AlertMessage, 'projectName' | 'endpointUrl'>;

const fields = `id uuid, "ruleId" uuid, "projectId" uuid, type text, state alert_message_state, "isReminder" boolean, "endpointId" uuid,
  count int, reason text, "firstAt" bigint, "lastAt" bigint, "firstExampleId" uuid, "lastExampleId" uuid, "createdAt" bigint`;
const at = (field: string) => `to_timestamp("${field}" / 1000.0)`;

/** Inserts messages that are due to be sent at once. */
export async function insertAlertMessages(
  client: Queryable,
  messages: readonly NewAlertMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  await client.query(
    `with given as materialized (select * from json_to_recordset($1::json) as m(${fields})), inserted as (
       insert into alert_messages (id, rule_id, project_id, type, state, is_reminder, endpoint_id, count, reason, first_at, last_at,
         first_example_id, last_example_id, created_at)
       select id, "ruleId", "projectId", type, state, "isReminder", "endpointId", count, reason, ${at('firstAt')}, ${at('lastAt')},
         "firstExampleId", "lastExampleId", ${at('createdAt')} from given
     )
     insert into alert_sendings (message_id, rule_id, due_at) select id, "ruleId", ${at('createdAt')} from given`,
    [JSON.stringify(messages)],
  );
}

/** A message that this worker sends, and where to. */
export type ClaimedMessage = AlertMessage & {
  attemptNum: number;
  /** Null: a mail to the operator. */
  rule: {
    id: string;
    channel: AlertChannel;
    target: string;
    sealedChannel: string | null;
    channelKeyId: string | null;
  } | null;
};

type ClaimedRow = Omit<ClaimedMessage, 'firstAt' | 'lastAt' | 'createdAt'> & {
  firstAt: Date | null;
  lastAt: Date | null;
  createdAt: Date;
};

/**
 * Claims messages that are due, the longest due first, and counts their attempt. Another worker may claim them after `claimMs`: a
 * worker that crashes between a send and its row makes the message arrive twice, never not at all.
 */
export async function claimDueMessages(
  client: Queryable,
  { now, claimMs, limit }: { now: number; claimMs: number; limit: number },
): Promise<ClaimedMessage[]> {
  const { rows } = await client.query<ClaimedRow>(
    `with due as materialized (
       select message_id from alert_sendings where due_at <= $1 order by due_at limit $3 for update skip locked
     ), claimed as (
       update alert_sendings s set due_at = $2, attempts = s.attempts + 1 from due where s.message_id = due.message_id
       returning s.message_id, s.attempts
     )
     select m.id, m.rule_id as "ruleId", m.type, m.state, m.is_reminder as "isReminder", m.project_id as "projectId",
       coalesce(p.name, '') as "projectName", m.endpoint_id as "endpointId", e.url as "endpointUrl", m.count, m.reason,
       m.first_at as "firstAt", m.last_at as "lastAt", m.first_example_id as "firstExampleId", m.last_example_id as "lastExampleId",
       m.created_at as "createdAt", c.attempts as "attemptNum",
       case when r.id is not null then json_build_object('id', r.id, 'channel', r.channel, 'target', r.target,
         'sealedChannel', r.sealed_channel, 'channelKeyId', r.channel_key_id) end as rule
     from claimed c join alert_messages m on m.id = c.message_id left join projects p on p.id = m.project_id
     left join endpoints e on e.id = m.endpoint_id left join alert_rules r on r.id = m.rule_id order by m.created_at, m.id`,
    [new Date(now), new Date(now + claimMs), limit],
  );
  return rows.map((row) => ({
    ...row,
    firstAt: row.firstAt?.getTime() ?? null,
    lastAt: row.lastAt?.getTime() ?? null,
    createdAt: row.createdAt.getTime(),
  }));
}

export type AlertAttempt = {
  messageId: string;
  ruleId: string | null;
  attemptNum: number;
  status: 'sent' | 'failed';
  answer: string;
  latencyMs: number;
  /** ms since epoch. */
  attemptedAt: number;
};

/**
 * Inserts the row of an attempt, and in the same statement ends the sending (`nextTryAt` undefined) or sets its next try, and counts
 * the failures of the rule. When a channel works again, the other messages that wait for it are due at once. Returns how many tries
 * of the rule have failed in a row.
 */
export async function recordAlertAttempt(
  client: Queryable,
  attempt: AlertAttempt,
  nextTryAt: number | undefined,
): Promise<number> {
  const { messageId, ruleId, attemptNum, status, answer, latencyMs, attemptedAt } = attempt;
  const { rows } = await client.query<{ failures: number }>(
    `with attempt as (
       insert into alert_attempts (message_id, attempt_num, status, answer, latency_ms, attempted_at) values ($1, $3, $4, $5, $6, $7)
     ), ended as (
       delete from alert_sendings where message_id = $1 and $8::timestamptz is null
     ), again as (
       update alert_sendings set due_at = $8 where message_id = $1 and attempts = $3 and $8::timestamptz is not null
     ), others as (
       update alert_sendings s set due_at = $7 from alert_rules r
       where $4 = 'sent' and r.id = $2 and r.failures > 0 and s.rule_id = r.id and s.message_id <> $1 and ${waitsForRetry('$7::timestamptz')}
     )
     update alert_rules set
       failures = case when $4 = 'sent' then 0 else failures + 1 end,
       failing_since = case when $4 = 'sent' then null else coalesce(failing_since, $7) end,
       last_error = case when $4 = 'sent' then null else $5 end,
       last_sent_at = case when $4 = 'sent' then $7 else last_sent_at end
     where id = $2 returning failures`,
    [
      messageId,
      ruleId,
      attemptNum,
      status,
      answer,
      latencyMs,
      new Date(attemptedAt),
      nextTryAt === undefined ? null : new Date(nextTryAt),
    ],
  );
  return rows[0]?.failures ?? 0;
}

export type ListedAttempt = Pick<AlertAttempt, 'attemptNum' | 'status' | 'answer' | 'latencyMs'> & {
  attemptedAt: Date;
};

/** `not_sent`: given up after a week, or its rule was removed before it was sent. */
export type ListedAlertMessage = {
  id: string;
  alertId: string;
  projectId: string;
  type: AlertType;
  state: 'firing' | 'recovered';
  isReminder: boolean;
  endpointId: string | null;
  count: number;
  reason: string;
  firstAt: Date | null;
  lastAt: Date | null;
  firstExampleId: string | null;
  lastExampleId: string | null;
  createdAt: Date;
  status: 'waiting' | 'sent' | 'not_sent';
  /** The latest 20, the newest first. */
  attempts: ListedAttempt[];
};

const listed = `m.id, m.rule_id as "alertId", m.project_id as "projectId", m.type, m.state, m.is_reminder as "isReminder",
  m.endpoint_id as "endpointId", m.count, m.reason, m.first_at as "firstAt", m.last_at as "lastAt",
  m.first_example_id as "firstExampleId", m.last_example_id as "lastExampleId", m.created_at as "createdAt",
  case when exists (select from alert_attempts a where a.message_id = m.id and a.status = 'sent') then 'sent'
    when exists (select from alert_sendings s where s.message_id = m.id) then 'waiting' else 'not_sent' end as status,
  coalesce((select json_agg(json_build_object('attemptNum', a.attempt_num, 'status', a.status, 'answer', a.answer,
      'latencyMs', a.latency_ms, 'attemptedAt', a.attempted_at) order by a.attempt_num desc)
    from (select * from alert_attempts a where a.message_id = m.id order by attempt_num desc limit 20) a), '[]') as attempts`;

/** A page of the messages of a project's rules, the newest first. */
export async function readAlertMessagePage(
  client: Queryable,
  { projectId, ruleId }: { projectId: string; ruleId?: string | undefined },
  page: PageRequest,
): Promise<ListedAlertMessage[]> {
  const where = ['m.project_id = $1', 'm.rule_id is not null', ...(ruleId ? ['m.rule_id = $2'] : [])];
  const values = [projectId, ...(ruleId ? [ruleId] : [])];
  const list = { columns: listed, from: 'alert_messages m', where, values, at: 'm.created_at', id: 'm.id' };
  return (await readKeysetPage<ListedAlertMessage>(client, list, page)).map(withTimes);
}

/** Null when there is no such message of a rule. */
export async function readAlertMessage(client: Queryable, id: string): Promise<ListedAlertMessage | null> {
  const { rows } = await client.query<ListedAlertMessage>(
    `select ${listed} from alert_messages m where m.id = $1 and m.rule_id is not null`,
    [id],
  );
  return rows[0] ? withTimes(rows[0]) : null;
}

/** Times inside JSON are text. */
function withTimes(message: ListedAlertMessage): ListedAlertMessage {
  const attempts = message.attempts.map((each) => ({ ...each, attemptedAt: new Date(each.attemptedAt) }));
  return { ...message, attempts };
}

/**
 * Whether a mail about broken channels was made since then (ms since epoch), or waits to be sent: after an outage of the mail server
 * the operator gets one. Until the transaction ends, no other one can ask, so that two tries that fail at once make one mail.
 */
export async function wasOperatorTold(client: pg.PoolClient, since: number): Promise<boolean> {
  await client.query(`select pg_advisory_xact_lock(hashtext('hqrelay_alert_operator'))`);
  const { rows } = await client.query<{ told: boolean }>(
    `select exists (select from alert_messages where rule_id is null and created_at > $1)
       or exists (select from alert_sendings where rule_id is null) as told`,
    [new Date(since)],
  );
  return rows[0]?.told === true;
}
