import { maskSecrets } from '@hqrelay/domain/secrets/mask-secrets';
import { createTransport } from 'nodemailer';
import { parseSmtpUrl } from './smtp-url.ts';

export type Mail = {
  /** UUID; the mail's Message-ID is made of it, so that a mail that arrives twice can be recognised. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
};

export type MailResult = {
  isSent: boolean;
  /** The server's answer, or the error, on one line. */ answer: string;
};

export interface Mailer {
  /** Resolves with `isSent` only when the server answered 250 to the whole mail. It never rejects for what a server does. */
  send(mail: Mail): Promise<MailResult>;
}

const connectTimeoutMs = 10_000;
const silenceTimeoutMs = 15_000;
/** For all of it: a server that answers slowly never reaches the timeouts of its silences. */
const deadlineMs = 45_000;
const answerLengthMax = 300;

/** Sends mails, each over a connection of its own. `from` is an address, with or without a name. */
export function createMailer({
  smtpUrl,
  from,
  deadlineMs: deadline = deadlineMs,
}: {
  smtpUrl: string;
  from: string;
  deadlineMs?: number;
}): Mailer {
  const { password, ...server } = parseSmtpUrl(smtpUrl);
  const secrets = password === undefined ? [] : [password];
  return {
    async send({ id, to, subject, text, html }) {
      const transport = createTransport({
        ...server,
        connectionTimeout: connectTimeoutMs,
        dnsTimeout: connectTimeoutMs,
        greetingTimeout: silenceTimeoutMs,
        socketTimeout: silenceTimeoutMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const sending = transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domainOf(from)}>`,
        // Programs that answer mails by themselves leave those with it alone (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not sent within ${deadline} ms`)), deadline);
      });
      try {
        const { response } = (await Promise.race([sending, late])) as { response: string };
        return { isSent: true, answer: oneLine(maskSecrets(response, secrets)) };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { isSent: false, answer: oneLine(maskSecrets(message, secrets)) };
      } finally {
        clearTimeout(timer);
        sending.catch(() => undefined);
        transport.close();
      }
    },
  };
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'hqrelay';
}

function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > answerLengthMax ? `${line.slice(0, answerLengthMax - 1).toWellFormed()}…` : line;
}
