import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertAlertRule, type AlertRule } from '@hqrelay/db/queries/alert-rules';
import type { AlertChannel, AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { emailAddressProblem } from '@hqrelay/domain/alerts/email-address';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { newId } from '@hqrelay/domain/ids';
import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';
import { done, refused, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';

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
  const sealed =
    channel === 'email'
      ? undefined
      : seal(
          parseSecretKeys(deps.secretsKey()),
          JSON.stringify({ url: target, signingSecret }),
          `alert_rules:${id}`,
        );
  return inTransaction(deps.pool, async (client) => {
    const project = await takeProject(client, projectId);
    if (project.kind === 'refused') return project;
    const alert = await insertAlertRule(client, {
      id,
      projectId,
      kinds: [...new Set(kinds)],
      channel,
      target: shownTarget(channel, target),
      windowMs,
      sealedChannel: sealed?.sealed ?? null,
      channelKeyId: sealed?.keyId ?? null,
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

function targetProblem(policy: NetworkPolicy, channel: AlertChannel, target: string): string | undefined {
  if (channel === 'email') {
    const problem = emailAddressProblem(target);
    return problem && `the address ${problem}`;
  }
  const checked = checkEndpointUrl(policy, target);
  return checked.ok ? undefined : checked.reason;
}

function shownTarget(channel: AlertChannel, target: string): string {
  if (channel === 'email') return target;
  return channel === 'slack' ? `${new URL(target).origin}/***` : redactUrl(target);
}
