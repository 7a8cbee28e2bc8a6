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

const limits = {
  connectionTimeout: 10_000,
  dnsTimeout: 10_000,
  greetingTimeout: 15_000,
  socketTimeout: 15_000,
  disableFileAccess: true,
  disableUrlAccess: true,
};
/** For all of it: a server that answers slowly never reaches the timeouts of its silences. */
const mailDeadlineMs = 45_000;
const answerLengthMax = 300;

type MailerOptions = {
  smtpUrl: string;
  /** An address, with or without a name. */ from: string;
  deadlineMs?: number;
};

/** Sends mails, each over a connection of its own. */
export function createMailer({ smtpUrl, from, deadlineMs = mailDeadlineMs }: MailerOptions): Mailer {
  const { password, ...server } = parseSmtpUrl(smtpUrl);
  const secrets = password === undefined ? [] : [password];
  return {
    async send(mail) {
      const transport = createTransport({ ...server, ...limits });
      try {
        const sending = transport.sendMail(contentOf(mail, from)) as Promise<{ response: string }>;
        const { response } = await within(deadlineMs, sending);
        return { isSent: true, answer: oneLine(maskSecrets(response, secrets)) };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { isSent: false, answer: oneLine(maskSecrets(message, secrets)) };
      } finally {
        transport.close();
      }
    },
  };
}

function contentOf({ id, to, subject, text, html }: Mail, from: string) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    // Programs that answer mails by themselves leave those with it alone (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

async function within<T>(deadlineMs: number, sending: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not sent within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
    // It may still fail after the deadline.
    sending.catch(() => undefined);
  }
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
