import { consoleUrlOf } from '@hqrelay/actions/session/create-console-link';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createMailer } from '@hqrelay/outbound/mail/mailer';
import type { Sender } from '@hqrelay/outbound/send-request';
import type { SendMessageDeps } from '../alerts/send-message.ts';
import type { WorkerConfig } from '../config.ts';

/** What alerts are sent with. Callbacks go through the sender of deliveries. */
export function alertsOf(config: WorkerConfig, sender: Sender): Omit<SendMessageDeps, 'now'> {
  const { smtpUrl, alertFrom, secretsKey, alertOperatorEmail } = config;
  return {
    mailer:
      smtpUrl !== undefined && alertFrom !== undefined
        ? createMailer({ smtpUrl, from: alertFrom })
        : undefined,
    sender,
    secretKeys: parseSecretKeys(secretsKey),
    consoleUrl: consoleUrlOf(config),
    operatorEmail: alertOperatorEmail,
  };
}
