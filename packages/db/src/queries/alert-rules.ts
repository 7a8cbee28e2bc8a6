import type { AlertChannel, AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { claimMs, failuresToBreak } from '@hqrelay/domain/alerts/sending-schedule';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';

export type AlertRule = {
  id: string;
  projectId: string;
  kinds: AlertKind[];
  channel: AlertChannel;
  /** Without secrets. */
  target: string;
  windowMs: number;
  snoozedUntil: Date | null;
  /** Whether so many tries in a row failed that its channel counts as broken. */
  isBroken: boolean;
  failingSince: Date | null;
  lastError: string | null;
  lastSentAt: Date | null;
  createdAt: Date;
};

export type NewAlertRule = Pick<
  AlertRule,
  'id' | 'projectId' | 'kinds' | 'channel' | 'target' | 'windowMs'
> & {
  sealedChannel: string | null;
  channelKeyId: string | null;
};

export type AlertRuleChanges = Partial<Pick<AlertRule, 'kinds' | 'windowMs' | 'snoozedUntil'>>;

const columns = `id, project_id as "projectId", kinds, channel, target, window_ms as "windowMs", snoozed_until as "snoozedUntil",
  failures >= ${failuresToBreak} as "isBroken", failing_since as "failingSince", last_error as "lastError",
  last_sent_at as "lastSentAt", created_at as "createdAt"`;

export async function insertAlertRule(client: Queryable, rule: NewAlertRule): Promise<AlertRule> {
  const { id, projectId, kinds, channel, target, windowMs, sealedChannel, channelKeyId } = rule;
  const { rows } = await client.query<AlertRule>(
    `insert into alert_rules (id, project_id, kinds, channel, target, window_ms, sealed_channel, channel_key_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [id, projectId, kinds, channel, target, windowMs, sealedChannel, channelKeyId],
  );
  return rows[0] as AlertRule;
}

/** Whether a row of `alert_sendings` waits for its next try: one that a worker sends now is due again when its claim ends. */
export const waitsForRetry = (now: string) => `due_at > ${now} + interval '${claimMs} milliseconds'`;

/** Null when there is none, or it was removed. */
export async function readAlertRule(client: Queryable, id: string): Promise<AlertRule | null> {
  const { rows } = await client.query<AlertRule>(
    `select ${columns} from alert_rules where id = $1 and removed_at is null`,
    [id],
  );
  return rows[0] ?? null;
}

/** Updates the given settings (at least one) and returns the rule as it is then; null when there is none. */
export async function updateAlertRule(
  client: Queryable,
  id: string,
  { kinds, windowMs, snoozedUntil }: AlertRuleChanges,
): Promise<AlertRule | null> {
  const { rows } = await client.query<AlertRule>(
    `update alert_rules set kinds = coalesce($2, kinds), window_ms = coalesce($3, window_ms),
       snoozed_until = case when $4 then $5::timestamptz else snoozed_until end
     where id = $1 and removed_at is null returning ${columns}`,
    [id, kinds ?? null, windowMs ?? null, snoozedUntil !== undefined, snoozedUntil ?? null],
  );
  return rows[0] ?? null;
}

export type AlertAddress = { target: string; sealedChannel: string | null; channelKeyId: string | null };

/** What is sealed of a rule's channel: its URL and its signing secret. Null for an address of mail. */
export async function readSealedChannel(
  client: Queryable,
  id: string,
): Promise<{ sealed: string; keyId: string } | null> {
  const { rows } = await client.query<{ sealed: string | null; keyId: string | null }>(
    'select sealed_channel as sealed, channel_key_id as "keyId" from alert_rules where id = $1',
    [id],
  );
  const { sealed = null, keyId = null } = rows[0] ?? {};
  return sealed === null || keyId === null ? null : { sealed, keyId };
}

/** Gives a rule another address: what failed before was about the old one, and the messages that wait are sent at once. */
export async function setAlertAddress(
  client: Queryable,
  id: string,
  { target, sealedChannel, channelKeyId }: AlertAddress,
): Promise<void> {
  await client.query(
    `update alert_rules set target = $2, sealed_channel = $3, channel_key_id = $4, failures = 0, failing_since = null, last_error = null
     where id = $1 and removed_at is null`,
    [id, target, sealedChannel, channelKeyId],
  );
  await client.query(
    `update alert_sendings set due_at = now() where rule_id = $1 and ${waitsForRetry('now()')}`,
    [id],
  );
}

/** Removes a rule, its open alerts and its messages that are not sent yet. */
export async function removeAlertRule(client: Queryable, id: string): Promise<void> {
  await client.query('update alert_rules set removed_at = now() where id = $1 and removed_at is null', [id]);
  await client.query('delete from alert_states where rule_id = $1', [id]);
  await client.query('delete from alert_sendings where rule_id = $1', [id]);
}

/** A page of the rules of one project, or of all, the newest first. */
export function readAlertRulePage(
  client: Queryable,
  { projectId }: { projectId: string | null },
  page: PageRequest,
): Promise<AlertRule[]> {
  const where = ['removed_at is null', ...(projectId === null ? [] : ['project_id = $1'])];
  const values = projectId === null ? [] : [projectId];
  return readKeysetPage<AlertRule>(
    client,
    { columns, from: 'alert_rules', where, values, at: 'created_at', id: 'id' },
    page,
  );
}

/** The rules of one project, or of all, the newest first. */
export async function listAlertRules(
  client: Queryable,
  { projectId }: { projectId: string | undefined },
): Promise<AlertRule[]> {
  const { rows } = await client.query<AlertRule>(
    `select ${columns} from alert_rules where removed_at is null and ($1::uuid is null or project_id = $1)
     order by created_at desc, id desc`,
    [projectId ?? null],
  );
  return rows;
}

/** How many channels of rules are broken. */
export async function countBrokenChannels(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from alert_rules where removed_at is null and failures >= ${failuresToBreak}`,
  );
  return rows[0]?.count ?? 0;
}
