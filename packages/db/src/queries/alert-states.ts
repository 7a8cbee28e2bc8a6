import type { AlertState } from '@hqrelay/domain/alerts/decide-alert';
import type { AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import type pg from 'pg';
import type { Queryable } from '../queryable.ts';

/** A rule that is evaluated for a kind. */
export type Watcher = {
  ruleId: string;
  projectId: string;
  kinds: AlertKind[];
  windowMs: number;
  snoozedUntil: Date | null;
  /** When the rule was made: what happened before is not told. */
  since: Date;
};

/** The rules of projects that are in use. */
export async function readWatchers(client: Queryable): Promise<Watcher[]> {
  const { rows } = await client.query<Watcher>(
    `select r.id as "ruleId", r.project_id as "projectId", r.kinds, r.window_ms as "windowMs", r.snoozed_until as "snoozedUntil",
       r.created_at as since
     from alert_rules r join projects p on p.id = r.project_id
     where r.removed_at is null and p.enabled and p.archived_at is null`,
  );
  return rows;
}

/** The facts of one kind are evaluated by one worker at a time. False while another one does. */
export async function tryLockKind(client: pg.PoolClient, kind: AlertKind): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('hqrelay_alerts'), hashtext($1)) as locked`,
    [kind],
  );
  return rows[0]?.locked === true;
}

export type StoredState = AlertState & {
  ruleId: string;
  subjectId: string;
  /** Whether a person paused, disabled or archived its endpoint. */
  isWithheld: boolean;
};

type StateRow = {
  ruleId: string;
  subjectId: string;
  activeSince: Date | null;
  messagedAt: Date | null;
  toldCount: number;
  toldTo: Date | null;
  isWithheld: boolean;
};

/** The states of these rules. A 410 withholds no alert about itself. */
export async function readAlertStates(
  client: Queryable,
  kind: AlertKind,
  ruleIds: readonly string[],
): Promise<StoredState[]> {
  const { rows } = await client.query<StateRow>(
    `select s.rule_id as "ruleId", s.subject_id as "subjectId", s.active_since as "activeSince", s.messaged_at as "messagedAt",
       s.told_count as "toldCount", s.told_to as "toldTo",
       coalesce(e.paused or e.archived_at is not null or (not e.enabled and (s.kind <> 'endpoint_disabled' or e.disabled_by = 'person')),
         false) as "isWithheld"
     from alert_states s left join endpoints e on e.id = s.subject_id where s.kind = $1 and s.rule_id = any($2)`,
    [kind, ruleIds],
  );
  return rows.map((row) => ({
    ...row,
    activeSince: row.activeSince?.getTime() ?? null,
    messagedAt: row.messagedAt?.getTime() ?? null,
    toldTo: row.toldTo?.getTime() ?? null,
  }));
}

export type StateChange = { ruleId: string; subjectId: string; state: AlertState | undefined };

/** Replaces the states of one kind; undefined deletes one. */
export async function storeAlertStates(
  client: Queryable,
  kind: AlertKind,
  changes: readonly StateChange[],
): Promise<void> {
  const deleted = changes.filter(({ state }) => state === undefined);
  if (deleted.length > 0) {
    await client.query(
      `delete from alert_states s using unnest($2::uuid[], $3::uuid[]) as d (rule_id, subject_id)
       where s.kind = $1 and s.rule_id = d.rule_id and s.subject_id = d.subject_id`,
      [kind, deleted.map(({ ruleId }) => ruleId), deleted.map(({ subjectId }) => subjectId)],
    );
  }
  const kept = changes.flatMap(({ ruleId, subjectId, state }) =>
    state ? [{ ruleId, subjectId, ...state }] : [],
  );
  if (kept.length === 0) return;
  await client.query(
    `insert into alert_states (rule_id, kind, subject_id, active_since, messaged_at, told_count, told_to)
     select "ruleId", $1, "subjectId", to_timestamp("activeSince" / 1000.0), to_timestamp("messagedAt" / 1000.0), "toldCount",
       to_timestamp("toldTo" / 1000.0)
     from json_to_recordset($2::json) as s("ruleId" uuid, "subjectId" uuid, "activeSince" bigint, "messagedAt" bigint,
       "toldCount" int, "toldTo" bigint)
     on conflict (rule_id, kind, subject_id) do update set active_since = excluded.active_since,
       messaged_at = excluded.messaged_at, told_count = excluded.told_count, told_to = excluded.told_to`,
    [kind, JSON.stringify(kept)],
  );
}

/** Deletes the states of kinds that a rule names no more, and of endpoints that are archived. */
export async function dropNeedlessStates(client: Queryable): Promise<void> {
  await client.query(
    `delete from alert_states s where exists (select from endpoints e where e.id = s.subject_id and e.archived_at is not null)
       or exists (select from alert_rules r where r.id = s.rule_id and (r.removed_at is not null or not s.kind = any(r.kinds)))`,
  );
}
