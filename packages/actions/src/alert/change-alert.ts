import { inTransaction } from '@hqrelay/db/in-transaction';
import * as queries from '@hqrelay/db/queries/alert-rules';
import type { AlertRule, AlertRuleChanges } from '@hqrelay/db/queries/alert-rules';
import { lockProject } from '@hqrelay/db/queries/projects';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { settingsOf } from './add-alert.ts';

type Deps = Pick<ActionDeps, 'pool' | 'actor'>;

/** Changes what a rule alerts on, or its window. */
export function updateAlert(
  deps: Deps,
  alertId: string,
  changes: Pick<AlertRuleChanges, 'kinds' | 'windowMs'>,
): Promise<ActionResult<AlertRule>> {
  return change(deps, alertId, 'alert.update', changes);
}

/** Sends nothing of a rule until then; null ends the snooze. */
export function snoozeAlert(
  deps: Deps,
  alertId: string,
  until: Date | null,
): Promise<ActionResult<AlertRule>> {
  return change(deps, alertId, 'alert.snooze', { snoozedUntil: until });
}

/** Ends a rule for good: its messages that are not sent yet are not sent. The rows of those that were stay. */
export async function removeAlert({ pool, actor }: Deps, alertId: string): Promise<ActionResult<AlertRule>> {
  return inTransaction(pool, async (client) => {
    const before = await takeAlert(client, alertId);
    if (before.kind === 'refused') return before;
    await queries.removeAlertRule(client, alertId);
    await recordChange(client, actor, {
      action: 'alert.remove',
      projectId: before.value.projectId,
      target: alertId,
      before: settingsOf(before.value),
      after: {},
      more: { removed: settingsOf(before.value) },
    });
    return done(before.value);
  });
}

async function change(
  { pool, actor }: Deps,
  alertId: string,
  action: string,
  changes: AlertRuleChanges,
): Promise<ActionResult<AlertRule>> {
  return inTransaction(pool, async (client) => {
    const before = await takeAlert(client, alertId);
    if (before.kind === 'refused') return before;
    const after = (await queries.updateAlertRule(client, alertId, changes)) as AlertRule;
    await recordChange(client, actor, {
      action,
      projectId: after.projectId,
      target: alertId,
      before: settingsOf(before.value),
      after: settingsOf(after),
    });
    return done(after);
  });
}

async function takeAlert(client: pg.PoolClient, alertId: string): Promise<ActionResult<AlertRule>> {
  const found = await queries.readAlertRule(client, alertId);
  if (found) await lockProject(client, found.projectId);
  const alert = found && (await queries.readAlertRule(client, alertId));
  return alert ? done(alert) : refused('alert.not_found', `there is no alert ${alertId}`);
}
