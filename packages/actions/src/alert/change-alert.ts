import { inTransaction } from '@hqrelay/db/in-transaction';
import * as queries from '@hqrelay/db/queries/alert-rules';
import type { AlertRule, AlertRuleChanges } from '@hqrelay/db/queries/alert-rules';
import { lockProject } from '@hqrelay/db/queries/projects';
import type { AlertChannel } from '@hqrelay/domain/alerts/alert-kind';
import type { NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange, type Change } from '../record-change.ts';
import { settingsOf } from './add-alert.ts';
import { changedAddressOf } from './alert-address.ts';

type Deps = Pick<ActionDeps, 'pool' | 'actor'>;

/** Changes what a rule alerts on, its window, or where it sends within its channel. */
export function updateAlert(
  deps: Pick<SealingDeps, 'pool' | 'actor' | 'secretsKey'> & { policy: NetworkPolicy },
  alertId: string,
  { address, ...changes }: Pick<AlertRuleChanges, 'kinds' | 'windowMs'> & { address?: NewAddress },
): Promise<ActionResult<AlertRule>> {
  // What the address is may be a secret: the row says that it changed.
  const row = { action: 'alert.update', ...(address && { more: { hasNewAddress: true } }) };
  return change(deps, alertId, row, async (client, before) => {
    if (address) {
      const changed = await changedAddressOf(client, deps, before, address);
      if (changed.kind === 'refused') return changed;
      await queries.setAlertAddress(client, alertId, changed.value);
    }
    return done(await queries.updateAlertRule(client, alertId, changes));
  });
}

type NewAddress = { channel: AlertChannel; target: string };

/** Sends nothing of a rule until then; null ends the snooze. */
export function snoozeAlert(
  deps: Deps,
  alertId: string,
  until: Date | null,
): Promise<ActionResult<AlertRule>> {
  return change(deps, alertId, { action: 'alert.snooze' }, async (client) =>
    done(await queries.updateAlertRule(client, alertId, { snoozedUntil: until })),
  );
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
  row: Pick<Change, 'action' | 'more'>,
  apply: (client: pg.PoolClient, before: AlertRule) => Promise<ActionResult<AlertRule | null>>,
): Promise<ActionResult<AlertRule>> {
  return inTransaction(pool, async (client) => {
    const before = await takeAlert(client, alertId);
    if (before.kind === 'refused') return before;
    const applied = await apply(client, before.value);
    if (applied.kind === 'refused') return applied;
    const after = applied.value as AlertRule;
    await recordChange(client, actor, {
      ...row,
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
