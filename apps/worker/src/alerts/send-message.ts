import type { ClaimedMessage } from '@hqrelay/db/queries/alert-messages';
import { renderCallback, renderMail, renderSlack } from '@hqrelay/domain/alerts/render-alert';
import { judgeAttempt } from '@hqrelay/domain/delivery/attempt-outcome';
import { signingKeyOf, signStandardWebhook } from '@hqrelay/domain/delivery/outbound-signing';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { maskSecrets } from '@hqrelay/domain/secrets/mask-secrets';
import { open, SecretUnreadable, type SecretKeys } from '@hqrelay/domain/secrets/secret-box';
import type { Mailer } from '@hqrelay/outbound/mail/mailer';
import type { Sender } from '@hqrelay/outbound/send-request';

export type SendMessageDeps = {
  /** Undefined without SMTP_URL. */
  mailer: Mailer | undefined;
  sender: Sender;
  secretKeys: SecretKeys;
  consoleUrl: string;
  /** Undefined without ALERT_OPERATOR_EMAIL. */
  operatorEmail: string | undefined;
  now: () => number;
};

export type SendResult = { isSent: boolean; answer: string };

type OpenedChannel = { url: string; signingSecret?: string };

const timeoutMs = 10_000;

/** Sends one message over the channel of its rule. It never rejects for what the channel does. */
export async function sendMessage(deps: SendMessageDeps, claimed: ClaimedMessage): Promise<SendResult> {
  const { rule } = claimed;
  if (rule === null) return sendMail(deps, claimed, deps.operatorEmail);
  if (rule.channel === 'email') return sendMail(deps, claimed, rule.target);
  try {
    return await post(deps, claimed, openChannel(deps.secretKeys, rule), rule.channel);
  } catch (error) {
    if (error instanceof SecretUnreadable) return { isSent: false, answer: error.message };
    throw error;
  }
}

async function sendMail(
  { mailer, consoleUrl }: SendMessageDeps,
  claimed: ClaimedMessage,
  to: string | undefined,
): Promise<SendResult> {
  if (!mailer) return { isSent: false, answer: 'the worker has no SMTP_URL' };
  if (to === undefined) return { isSent: false, answer: 'the worker has no ALERT_OPERATOR_EMAIL' };
  return mailer.send({ id: claimed.id, to, ...renderMail(withoutSecrets(claimed), consoleUrl) });
}

/** Posts as a delivery is posted: the same address policy and deadline. */
async function post(
  { sender, consoleUrl, now }: SendMessageDeps,
  claimed: ClaimedMessage,
  { url, signingSecret }: OpenedChannel,
  channel: 'webhook' | 'slack',
): Promise<SendResult> {
  const message = withoutSecrets(claimed);
  const content =
    channel === 'slack' ? renderSlack(message, consoleUrl) : renderCallback(message, consoleUrl);
  const body = Buffer.from(JSON.stringify(content));
  const signature =
    signingSecret === undefined ? [] : signatureHeaders({ id: claimed.id, body, signingSecret, now: now() });
  const headers = [
    ['content-type', 'application/json'],
    ['user-agent', 'hqrelay'],
    ...signature,
  ] as const satisfies (readonly [string, string])[];
  const exchange = await sender.send({ url, headers, body, timeoutMs });
  const outcome = judgeAttempt(exchange, { now: now(), timeoutMs });
  if (outcome.kind === 'delivered') return { isSent: true, answer: `HTTP ${outcome.statusCode}` };
  return { isSent: false, answer: maskSecrets(outcome.error, [new URL(url).pathname]) };
}

/** Standard Webhooks. The id is the same in every try, so that a callback that comes twice can be recognised. */
function signatureHeaders({
  id,
  body,
  signingSecret,
  now,
}: {
  id: string;
  body: Buffer;
  signingSecret: string;
  now: number;
}): [string, string][] {
  const timestampSeconds = Math.floor(now / 1_000);
  const keys = [signingKeyOf(signingSecret)];
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(timestampSeconds)],
    ['webhook-signature', signStandardWebhook({ keys, id, timestampSeconds, body })],
  ];
}

function openChannel(keys: SecretKeys, rule: NonNullable<ClaimedMessage['rule']>): OpenedChannel {
  const { id, sealedChannel: sealed, channelKeyId: keyId } = rule;
  if (sealed === null || keyId === null) throw new SecretUnreadable(`alert_rules:${id} has no URL`);
  return JSON.parse(open(keys, { sealed, keyId }, `alert_rules:${id}`)) as OpenedChannel;
}

/** Query parameters of an endpoint's URL may be credentials. */
function withoutSecrets(claimed: ClaimedMessage): ClaimedMessage {
  return { ...claimed, endpointUrl: claimed.endpointUrl === null ? null : redactUrl(claimed.endpointUrl) };
}
