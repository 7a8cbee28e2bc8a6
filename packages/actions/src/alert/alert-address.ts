import { readSealedChannel, type AlertAddress, type AlertRule } from '@hqrelay/db/queries/alert-rules';
import type { Queryable } from '@hqrelay/db/queryable';
import type { AlertChannel } from '@hqrelay/domain/alerts/alert-kind';
import { emailAddressProblem } from '@hqrelay/domain/alerts/email-address';
import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { open, parseSecretKeys, seal, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import { done, refused, type ActionResult, type SealingDeps } from '../action.ts';

type Sealed = { url: string; signingSecret?: string | undefined };

/** The address of a rule as it is stored: its URL and its signing secret sealed, because the path of a Slack URL is a credential. */
export function addressOf(
  secretsKey: SealingDeps['secretsKey'],
  { id, channel, target, signingSecret }: Address,
): AlertAddress {
  if (channel === 'email') return { target, sealedChannel: null, channelKeyId: null };
  const content: Sealed = { url: target, signingSecret };
  const { sealed, keyId } = seal(parseSecretKeys(secretsKey()), JSON.stringify(content), rowOf(id));
  const shown = channel === 'slack' ? `${new URL(target).origin}/***` : redactUrl(target);
  return { target: shown, sealedChannel: sealed, channelKeyId: keyId };
}

type Address = { id: string; channel: AlertChannel; target: string; signingSecret?: string | undefined };

/** Another address of a rule, which keeps its channel and its signing secret. */
export async function changedAddressOf(
  client: Queryable,
  { secretsKey, policy }: Pick<SealingDeps, 'secretsKey'> & { policy: NetworkPolicy },
  { id, channel }: AlertRule,
  wanted: { channel: AlertChannel; target: string },
): Promise<ActionResult<AlertAddress>> {
  if (wanted.channel !== channel) {
    return refused(
      'alert.invalid_target',
      `the channel of this rule is ${channel}: add a rule for another channel`,
    );
  }
  const problem = targetProblem(policy, channel, wanted.target);
  if (problem !== undefined) return refused('alert.invalid_target', problem);
  const sealed = channel === 'webhook' ? await readSealedChannel(client, id) : null;
  try {
    const before = sealed && (JSON.parse(open(parseSecretKeys(secretsKey()), sealed, rowOf(id))) as Sealed);
    return done(addressOf(secretsKey, { ...wanted, id, signingSecret: before?.signingSecret }));
  } catch (error) {
    if (error instanceof SecretUnreadable) return refused('secret.unreadable', error.message);
    throw error;
  }
}

const rowOf = (id: string) => `alert_rules:${id}`;

/** Why a rule cannot send there; undefined where it can. */
export function targetProblem(
  policy: NetworkPolicy,
  channel: AlertChannel,
  target: string,
): string | undefined {
  if (channel === 'email') {
    const problem = emailAddressProblem(target);
    return problem && `the address ${problem}`;
  }
  const checked = checkEndpointUrl(policy, target);
  return checked.ok ? undefined : checked.reason;
}
