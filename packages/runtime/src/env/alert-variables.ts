import { connectionUrl, emailAddress, emailSender } from './env-formats.ts';
import { variable } from './variable.ts';

/** What alerts are sent by e-mail with. */
export const alertVariables = {
  SMTP_URL: variable({
    key: 'smtpUrl',
    schema: connectionUrl('smtp:', 'smtps:'),
    whenUnset: { value: undefined, meaning: 'alerts by e-mail are not sent' },
    shown: 'url',
    example: 'smtp://relay:password@mail.example.com:587',
    description:
      'The mail server of alerts. `smtp:` (port 587) begins TLS by STARTTLS, which a server that is not on loopback has to offer ' +
      'unless the URL ends with `?requireTLS=false`; `smtps:` (port 465) speaks TLS at once. Needs ALERT_FROM.',
  }),
  ALERT_FROM: variable({
    key: 'alertFrom',
    schema: emailSender,
    whenUnset: { value: undefined, meaning: 'required with SMTP_URL' },
    shown: 'value',
    example: 'HQRelay <alerts@example.com>',
    description: 'The sender of alerts by e-mail: an address, with or without a name.',
  }),
  ALERT_OPERATOR_EMAIL: variable({
    key: 'alertOperatorEmail',
    schema: emailAddress,
    whenUnset: { value: undefined, meaning: 'no mail about broken channels' },
    shown: 'value',
    example: 'operator@example.com',
    description:
      'Gets a mail, at most one an hour, when alerts cannot be sent over a channel. Needs SMTP_URL.',
  }),
} as const;
