import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertAlertRule, type AlertRule } from '@hqrelay/db/queries/alert-rules';
import type { AlertChannel, AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { newId } from '@hqrelay/domain/ids';
import type { NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import { done, refused, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';
import { addressOf, targetProblem } from './alert-address.ts';

export type NewAlert = {
  projectId: string;
  /** At least one. */
  kinds: readonly AlertKind[];
  channel: AlertChannel;
  /** An address, or a URL. */
  target: string;
  windowMs: number;
};

/** The caller gets the signing secret of a webhook this once. */
export type AddedAlert = { alert: AlertRule; signingSecret?: string };

/** Adds a rule to a project. Its URL and its signing secret are stored sealed: the path of a Slack URL is a credential. */
export async function addAlert(
  deps: SealingDeps,
  policy: NetworkPolicy,
  { projectId, kinds, channel, target, windowMs }: NewAlert,
): Promise<ActionResult<AddedAlert>> {
  const problem = targetProblem(policy, channel, target);
  if (problem !== undefined) return refused('alert.invalid_target', problem);
  const id = newId(Date.now());
  const signingSecret = channel === 'webhook' ? newSigningSecret() : undefined;
  const address = addressOf(deps.secretsKey, { id, channel, target, signingSecret });
  return inTransaction(deps.pool, async (client) => {
    const project = await takeProject(client, projectId);
    if (project.kind === 'refused') return project;
    const alert = await insertAlertRule(client, {
      id,
      projectId,
      kinds: [...new Set(kinds)],
      channel,
      windowMs,
      ...address,
    });
    await recordChange(client, deps.actor, {
      action: 'alert.add',
      projectId,
      target: id,
      before: null,
      after: settingsOf(alert),
    });
    return done({ alert, ...(signingSecret !== undefined && { signingSecret }) });
  });
}

/** What a person decides about a rule, for the log. */
export function settingsOf({ kinds, channel, target, windowMs, snoozedUntil }: AlertRule) {
  return { kinds, channel, target, windowMs, snoozedUntil };
}
