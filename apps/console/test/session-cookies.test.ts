import { expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { openConsoleWorld } from './console-world.ts';

const overTls = await openConsoleWorld({ CONSOLE_URL: 'https://relay.example.com' });
const embedded = await openConsoleWorld({
  CONSOLE_URL: 'https://relay.example.com',
  CONSOLE_FRAME_ANCESTORS: 'https://backoffice.example.com',
});
const behindProxy = await openConsoleWorld({ TRUST_PROXY: 'loopback' });

it('a CONSOLE_URL with https: makes the cookie Secure and bound to its host', async () => {
  const { setCookie, cookie } = await overTls.signIn(await overTls.makeLink('viewer'), {
    origin: 'https://relay.example.com',
  });
  expect(setCookie).toMatch(
    /^__Host-hqrelay_session=hqs_[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(await overTls.get('/api/v1/me', { session: cookie })).toMatchObject({ statusCode: 200 });
});

it('where another site may embed the console, the cookie is sent in its frames and is partitioned by that site', async () => {
  const { setCookie } = await embedded.signIn(await embedded.makeLink('viewer'));
  expect(setCookie).toMatch(/; HttpOnly; Secure; Partitioned; SameSite=None$/);
});

it('without CONSOLE_URL, a trusted proxy that ends TLS makes the cookie Secure', async () => {
  const link = await behindProxy.makeLink('viewer');
  const { setCookie } = await behindProxy.signIn(link, { 'x-forwarded-proto': 'https' });
  expect(setCookie).toMatch(/^__Host-.*; Secure; SameSite=Lax$/);
});

it('a proxy that TRUST_PROXY names is not warned of', async () => {
  await behindProxy.get('/api/v1/me', { headers: { 'x-forwarded-for': '203.0.113.1' } });
  expect(behindProxy.log.join('')).not.toContain('proxy.not_trusted');
});

it('CONSOLE_FRAME_ANCESTORS without a CONSOLE_URL over TLS is a problem of the environment', () => {
  const env = { ...overTls.env, CONSOLE_FRAME_ANCESTORS: 'https://backoffice.example.com' };
  expect(() => readConfig(env)).toThrow(/CONSOLE_FRAME_ANCESTORS needs a CONSOLE_URL/);
  expect(() => readConfig({ ...env, CONSOLE_URL: 'http://relay.example.com' })).toThrow(
    /needs a CONSOLE_URL/,
  );
});

it.each(['https://relay.example.com/console', 'relay.example.com', 'https://relay.example.com/?a', ''])(
  'the CONSOLE_URL %j is a problem of the environment',
  (url) => expect(() => readConfig({ ...overTls.env, CONSOLE_URL: url })).toThrow(/CONSOLE_URL/),
);

it.each([
  '*',
  "'self'",
  'https://a.example;script-src *',
  'javascript:',
  'https://a.example https://b.example',
])('the CONSOLE_FRAME_ANCESTORS %j is a problem of the environment', (ancestors) =>
  expect(() =>
    readConfig({ ...overTls.env, CONSOLE_URL: 'https://r.example', CONSOLE_FRAME_ANCESTORS: ancestors }),
  ).toThrow(/CONSOLE_FRAME_ANCESTORS/),
);
