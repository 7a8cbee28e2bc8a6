import { inTransaction } from '@hqrelay/db/in-transaction';
import type { AlertFact } from '@hqrelay/db/queries/alert-facts';
import { insertAlertMessages, type NewAlertMessage } from '@hqrelay/db/queries/alert-messages';
import {
  readAlertStates,
  storeAlertStates,
  tryLockKind,
  type StateChange,
  type StoredState,
  type Watcher,
} from '@hqrelay/db/queries/alert-states';
import type { AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { decideAlert, type AlertDecision, type AlertState } from '@hqrelay/domain/alerts/decide-alert';
import { newId } from '@hqrelay/domain/ids';
import type pg from 'pg';

/** Reads the conditions of one kind that hold at present; undefined when they cannot be known. */
export type ReadKind = (
  client: pg.PoolClient,
  watchers: readonly Watcher[],
  now: number,
) => Promise<AlertFact[] | undefined>;

/** Later dead letters are told in later windows; the other conditions hold or end. */
const repeatedKinds: ReadonlySet<AlertKind> = new Set(['dead_letter']);

type Subject = { fact?: AlertFact; stored?: StoredState };
type Watched = { watcher: Watcher; subjects: Map<string, Subject> };

/**
 * Compares the facts of one kind with the alerts that are open, and commits their new states together with the messages that are
 * due. Another worker that evaluates the same kind meanwhile makes this one do nothing. Returns how many messages it made.
 */
export async function evaluateKind(
  pool: pg.Pool,
  kind: AlertKind,
  readKind: ReadKind,
  { watchers, now }: { watchers: readonly Watcher[]; now: number },
): Promise<number> {
  return inTransaction(pool, async (client) => {
    if (!(await tryLockKind(client, kind))) return 0;
    const facts = await readKind(client, watchers, now);
    if (!facts) return 0;
    const ruleIds = watchers.map(({ ruleId }) => ruleId);
    const stored = await readAlertStates(client, kind, ruleIds);
    const changes: StateChange[] = [];
    const messages: NewAlertMessage[] = [];
    for (const { watcher, subjects } of subjectsByRule(watchers, facts, stored).values()) {
      for (const [subjectId, subject] of subjects) {
        const decision = decide(kind, watcher, subject, now);
        if (!isSame(subject.stored, decision.state)) {
          changes.push({ ruleId: watcher.ruleId, subjectId, state: decision.state });
        }
        const message = messageOf(kind, watcher, { ...subject, subjectId }, decision, now);
        if (message) messages.push(message);
      }
    }
    await storeAlertStates(client, kind, changes);
    await insertAlertMessages(client, messages);
    return messages.length;
  });
}

/** The facts and the open alerts of each watcher, by what they are about. */
function subjectsByRule(
  watchers: readonly Watcher[],
  facts: readonly AlertFact[],
  stored: readonly StoredState[],
): Map<string, Watched> {
  const rules = new Map<string, Watched>();
  for (const watcher of watchers) rules.set(watcher.ruleId, { watcher, subjects: new Map() });
  for (const fact of facts) {
    const rule = rules.get(fact.ruleId);
    rule?.subjects.set(fact.endpointId ?? rule.watcher.projectId, { fact });
  }
  for (const state of stored) {
    const subjects = rules.get(state.ruleId)?.subjects;
    subjects?.set(state.subjectId, { ...subjects.get(state.subjectId), stored: state });
  }
  return rules;
}

function decide(
  kind: AlertKind,
  { windowMs, snoozedUntil }: Watcher,
  { fact, stored }: Subject,
  now: number,
): AlertDecision {
  const observation = fact ?? (stored?.isWithheld ? 'withheld' : undefined);
  return decideAlert(stored, observation, {
    now,
    windowMs,
    snoozedUntil: snoozedUntil?.getTime() ?? null,
    isRepeated: repeatedKinds.has(kind),
  });
}

function isSame(before: AlertState | undefined, after: AlertState | undefined): boolean {
  if (!before || !after) return before === after;
  const fields = ['activeSince', 'messagedAt', 'toldCount', 'toldTo'] as const;
  return fields.every((field) => before[field] === after[field]);
}

function messageOf(
  kind: AlertKind,
  { ruleId, projectId }: Watcher,
  { fact, stored, subjectId }: Subject & { subjectId: string },
  { message }: AlertDecision,
  now: number,
): NewAlertMessage | undefined {
  if (message === 'none') return undefined;
  const isRecovered = message === 'recovered';
  // A rule about recoveries alone is not told of the failure.
  if (kind === 'endpoint_recovered' && !isRecovered) return undefined;
  const since = stored?.activeSince ?? null;
  return {
    id: newId(now),
    ruleId,
    projectId,
    type: kind,
    state: isRecovered ? 'recovered' : 'firing',
    isReminder: message === 'reminder',
    endpointId: subjectId === projectId ? null : subjectId,
    count: fact?.count ?? stored?.toldCount ?? 0,
    reason: isRecovered ? `it held for ${durationOf(now - (since ?? now))}` : (fact?.reason ?? ''),
    firstAt: fact ? fact.firstAt : since,
    lastAt: fact ? fact.lastAt : now,
    firstExampleId: fact?.firstExampleId ?? null,
    lastExampleId: fact?.lastExampleId ?? null,
    createdAt: now,
  };
}

function durationOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1_000)} seconds`;
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
