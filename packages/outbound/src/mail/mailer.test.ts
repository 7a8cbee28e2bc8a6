import { startMailServer, type MailServer } from '@hqrelay/testing/network/mail-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMailer } from './mailer.ts';
import { parseSmtpUrl } from './smtp-url.ts';

let server: MailServer;
beforeEach(async () => {
  server = await startMailServer();
});
afterEach(() => server.close());

const mail = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  to: 'ops@shop.example',
  subject: '[HQRelay] Shöp: 3 dead letters',
  text: 'three dead letters – HTTP 503\n',
  html: '<p>three dead letters – HTTP 503</p>',
};

const mailer = (deadlineMs = 5_000) =>
  createMailer({ smtpUrl: server.url, from: 'HQRelay <alerts@relay.example>', deadlineMs });

describe('createMailer', () => {
  it('a mail arrives in text and HTML with the id of its message', async () => {
    const result = await mailer().send(mail);
    expect(result).toEqual({ isSent: true, answer: '250 2.0.0 queued by the test' });
    const [received] = server.mails;
    expect(received).toMatchObject({ from: 'alerts@relay.example', to: ['ops@shop.example'] });
    expect(received?.headers).toMatchObject({
      'message-id': `<${mail.id}@relay.example>`,
      'auto-submitted': 'auto-generated',
      from: 'HQRelay <alerts@relay.example>',
      to: 'ops@shop.example',
    });
    expect(received?.text.trim()).toBe(mail.text.trim());
    expect(received?.html).toContain(mail.html);
  });

  it('a line break in a subject or an address adds neither a header nor a recipient', async () => {
    await mailer().send({ ...mail, subject: 'a\r\nBcc: victim@example.com\r\n\r\nbody' });
    const [received] = server.mails;
    expect(received?.to).toEqual(['ops@shop.example']);
    expect(received?.headers).not.toHaveProperty('bcc');
    await mailer().send({ ...mail, to: 'ops@shop.example>\r\nRCPT TO:<victim@example.com' });
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('victim@example.com');
  });

  it.each([
    ['refuse', /550.*no such mailbox/],
    ['defer', /451.*try again later/],
    ['drop', /closed|reset|Connection/i],
    ['drop-in-data', /closed|reset|Connection|EPIPE/i],
  ] as const)('a server that answers with %s makes a mail that is not sent', async (how, answer) => {
    server.answerWith(how);
    const result = await mailer().send(mail);
    expect(result.isSent).toBe(false);
    expect(result.answer).toMatch(answer);
    expect(server.mails).toEqual([]);
  });

  it('a server that is slow beyond the deadline makes a mail that is not sent', async () => {
    server.answerWith({ slowMs: 3_000 });
    expect(await mailer(300).send(mail)).toEqual({ isSent: false, answer: 'not sent within 300 ms' });
  });

  it('a server that is away makes a mail that is not sent', async () => {
    await server.close();
    expect(await mailer().send(mail)).toMatchObject({
      isSent: false,
      answer: expect.stringContaining('ECONNREFUSED') as unknown,
    });
    server = await startMailServer();
  });
});

describe('parseSmtpUrl', () => {
  it.each([
    ['smtp://mail.example.com', { port: 587, secure: false, requireTLS: true }],
    ['smtp://mail.example.com:25/?requireTLS=false', { port: 25, requireTLS: false }],
    ['smtps://mail.example.com', { port: 465, secure: true, requireTLS: false }],
    ['smtp://127.0.0.1:2525', { port: 2525, requireTLS: false }],
    ['smtp://localhost', { requireTLS: false }],
    ['smtp://a%40b:p%2Fw@mail.example.com', { auth: { user: 'a@b', pass: 'p/w' } }],
  ])('%s is read', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });
});
