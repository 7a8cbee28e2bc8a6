import { SMTPServer } from 'smtp-server';
import { waitFor } from '../wait-for.ts';

export type ReceivedMail = {
  from: string;
  to: string[];
  /** As it came, CRLF line ends. */
  raw: string;
  /** The headers by their names in lower case, unfolded; a name that comes twice has its last value. */
  headers: Readonly<Record<string, string>>;
  /** The decoded text parts. */
  text: string;
  html: string;
};

/** `refuse`: 550 to the recipient. `defer`: 451 after the data. `drop`: the connection is cut after the data. `slow`: waits first. */
export type MailAnswer = 'accept' | 'refuse' | 'defer' | 'drop' | 'drop-in-data' | { slowMs: number };

export type MailServer = {
  url: string;
  mails: readonly ReceivedMail[];
  answerWith: (answer: MailAnswer) => void;
  waitForMails: (count: number) => Promise<readonly ReceivedMail[]>;
  close: () => Promise<void>;
};

/** A mail server on loopback that keeps what it accepted, and answers as a test decides. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let how: MailAnswer = 'accept';
  const cut = () => {
    for (const connection of server.connections) connection._socket.destroy();
  };
  const server: SMTPServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onRcptTo: (_address, _session, callback) =>
      callback(how === 'refuse' ? smtpError(550, 'no such mailbox') : null),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (how === 'drop-in-data') cut();
      });
      stream.on('end', () => {
        if (how === 'drop' || how === 'drop-in-data') return cut();
        if (how === 'defer') return callback(smtpError(451, '4.3.0 try again later'));
        setTimeout(
          () => {
            mails.push(parseMail(session.envelope, Buffer.concat(chunks).toString('utf8')));
            callback(null, '2.0.0 queued by the test');
          },
          typeof how === 'object' ? how.slowMs : 0,
        );
      });
    },
  });
  const port = await listen(server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    answerWith: (answer) => (how = answer),
    waitForMails: (count) => waitFor(`${count} mails`, () => mails.length >= count && mails),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function listen(server: SMTPServer): Promise<number> {
  // A client that is cut off is no failure of a test.
  server.on('error', () => {});
  return new Promise((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.server.address() as { port: number }).port));
  });
}

function parseMail(
  envelope: { mailFrom: false | { address: string }; rcptTo: { address: string }[] },
  raw: string,
): ReceivedMail {
  const { headers, body } = splitPart(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1];
  const parts =
    boundary === undefined ? [] : body.split(`--${boundary}`).map((part) => splitPart(part.trimStart()));
  const decoded = (type: string) => {
    const part = parts.find((each) => each.headers['content-type']?.startsWith(type));
    return part ? decode(part.body, part.headers['content-transfer-encoding'] ?? '') : '';
  };
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    raw,
    headers,
    text: decoded('text/plain'),
    html: decoded('text/html'),
  };
}

function splitPart(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, body: raw.slice(end + 4) };
}

function decode(body: string, encoding: string): string {
  const text = body.replace(/\r\n$/, '');
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return text;
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
