import { createHmac, hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerHandshake } from './handshake.ts';
import { headerLookupOf } from './request/header-lookup.ts';
import { findPreset } from './presets.ts';
import { viewOf } from './request/request-view.ts';

type Asked = {
  method?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
  isSigned?: boolean;
  settings?: Record<string, string>;
};

function answer(provider: string, asked: Asked) {
  const { method = 'POST', query = '', headers = {}, body = '', isSigned = false, settings = {} } = asked;
  const view = viewOf({
    method,
    url: `https://hooks.example.com/?${query}`,
    query,
    headers: headerLookupOf(Object.entries(headers)),
    body: Buffer.from(body),
  });
  const keys = { secrets: [{ id: 's', key: 'secret' }], settings };
  const reply = answerHandshake(findPreset(provider)!.handshakes, keys, view, { isSigned });
  return reply && { ...reply, body: reply.body.toString() };
}

describe('handshakes', () => {
  it('Meta gets its challenge back when the verify token is right, and no answer otherwise', () => {
    const query = (token: string) => `hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=11%2B58`;
    const settings = { 'verify-token': 'v t' };
    expect(answer('meta', { method: 'GET', query: query('v+t'), settings })).toEqual({
      status: 200,
      contentType: 'text/plain',
      body: '11+58',
    });
    expect(answer('meta', { method: 'GET', query: query('other'), settings })).toBeNull();
    expect(answer('meta', { method: 'GET', query: query(''), settings: {} })).toBeNull();
    expect(answer('meta', { method: 'POST', query: query('v+t'), settings })).toBeNull();
  });

  it('Zoom gets the HMAC of its token only for a request that is signed', () => {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    const encryptedToken = createHmac('sha256', 'secret').update('abc').digest('hex');
    expect(answer('zoom', { body, isSigned: true })).toEqual({
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ plainToken: 'abc', encryptedToken }),
    });
    expect(answer('zoom', { body })).toBeNull();
    expect(answer('zoom', { body: '{"event":"endpoint.url_validation"}', isSigned: true })).toBeNull();
  });

  it('Braintree gets the HMAC of a challenge of its form, and of no other text', () => {
    const challenge = '0123456789abcdef0123';
    const hmac = createHmac('sha1', hash('sha1', 'secret', 'buffer'))
      .update(challenge)
      .digest('hex');
    const settings = { 'public-key': 'pk' };
    const ask = (value: string) =>
      answer('braintree', { method: 'GET', query: `bt_challenge=${value}`, settings });
    expect(ask(challenge)?.body).toBe(`pk|${hmac}`);
    expect(ask('PD94bWwgdmVyc2lvbj0iMS4wIj8')).toBeNull();
  });

  it.each([
    ['slack', { isSigned: true, body: '{"type":"url_verification","challenge":"c1"}' }, 'c1'],
    ['dropbox', { method: 'GET', query: 'challenge=c2' }, 'c2'],
    ['microsoft-graph', { query: 'validationToken=a%20%3Cb%3E' }, 'a <b>'],
    [
      'okta',
      { method: 'GET', headers: { 'X-Okta-Verification-Challenge': 'c"3' } },
      '{"verification":"c\\"3"}',
    ],
    ['discord', { isSigned: true, body: '{"version":1,"type":0}' }, ''],
    ['discord', { isSigned: true, body: '{"type":1}' }, '{"type":1}'],
    ['intercom', { method: 'HEAD' }, ''],
    ['woocommerce', { body: 'webhook_id=12' }, ''],
    [
      'twitch',
      {
        isSigned: true,
        headers: { 'Twitch-Eventsub-Message-Type': 'webhook_callback_verification' },
        body: '{"challenge":"c4"}',
      },
      'c4',
    ],
  ] as const)('%s gets the answer to its handshake (case %#)', (provider, asked, body) => {
    expect(answer(provider, asked)?.body).toBe(body);
  });

  it('an ordinary event is no handshake', () => {
    expect(answer('slack', { isSigned: true, body: '{"type":"event_callback","challenge":"c"}' })).toBeNull();
    expect(
      answer('discord', { isSigned: true, body: '{"type":0,"event":{"type":"APPLICATION_AUTHORIZED"}}' }),
    ).toBeNull();
    expect(
      answer('woocommerce', { body: 'webhook_id=1', headers: { 'X-WC-Webhook-Signature': 'x' } }),
    ).toBeNull();
    expect(answer('dropbox', { method: 'GET', query: 'challenge=' })).toBeNull();
  });

  it('a challenge of more than 4 KiB gets no answer', () => {
    expect(answer('dropbox', { method: 'GET', query: `challenge=${'c'.repeat(4_097)}` })).toBeNull();
  });
});
