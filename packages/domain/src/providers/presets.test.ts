import { describe, expect, it } from 'vitest';
import { headerLookupOf } from './request/header-lookup.ts';
import { identify } from './identify.ts';
import type { Preset } from './preset.ts';
import { findPreset, presets } from './presets.ts';
import { viewOf } from './request/request-view.ts';
import { messagesOf } from './scheme.ts';
import { signRequest } from './signature/sign-request.ts';
import { templateProblem } from './request/template.ts';
import { verifyRequest } from './signature/verify-request.ts';

const now = 1_700_000_000_000;
const url = 'https://hooks.example.com/v1/webhooks/0190?x=1';
/** It decodes as text, hex and base64 alike. */
const key = '0123456789abcdef0123456789abcdef';
const settings = { 'public-key': 'pk', 'merchant-id': 'm1', 'webhook-id': 'w1', 'verify-token': 'vt' };
const body = Buffer.from(
  JSON.stringify({ id: 'evt_1', webhookTimestamp: now, iyziEventType: 'A', paymentId: 1, status: 'OK' }),
);

function check(preset: Preset, signed: { headers: Record<string, string>; url: string }, over = body) {
  return verifyRequest(preset.schemes, { secrets: [{ id: 's1', key }], settings }, view(signed, over), now);
}

function view(signed: { headers: Record<string, string>; url: string }, over: Buffer) {
  const headers = headerLookupOf(Object.entries(signed.headers));
  return viewOf({
    method: 'POST',
    url: signed.url,
    query: signed.url.split('?')[1] ?? '',
    headers,
    body: over,
  });
}

/** Headers that some schemes sign. */
const headers = {
  'webhook-id': 'msg_1',
  'svix-id': 'msg_1',
  'twitch-eventsub-message-id': 'msg_1',
};

function sign(preset: Preset) {
  const draft = { method: 'POST', url, headers, body };
  return signRequest(preset.schemes, { secrets: [{ id: 's1', key }], settings }, draft, now);
}

const onlyTheProviderSigns = new Set([
  'braintree',
  'discord',
  'mailgun',
  'microsoft-graph',
  'paypal',
  'sendgrid',
  'wise',
]);

const signing = presets.filter(({ name }) => !onlyTheProviderSigns.has(name));

describe('every preset', () => {
  it('the names of providers are distinct, lower case with dashes, and find their preset', () => {
    expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
    for (const preset of presets) {
      expect(preset.name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
      expect(findPreset(preset.name)).toBe(preset);
    }
    expect(findPreset('constructor')).toBeUndefined();
  });

  it.each(presets)('the templates of $name parse, and its last scheme has no condition', (preset) => {
    const replies = (preset.handshakes ?? []).flatMap(({ reply, mustEqual }) => [
      reply.text,
      mustEqual?.value,
      ...Object.values(reply.json ?? {}),
    ]);
    const messages = preset.schemes.flatMap((scheme) => ('signature' in scheme ? messagesOf(scheme) : []));
    const templates = [
      ...preset.webhookId,
      ...preset.eventType,
      ...preset.orderingKey,
      ...messages,
      ...replies,
    ];
    for (const template of templates) {
      if (typeof template === 'string') expect(templateProblem(template)).toBeUndefined();
    }
    const last = preset.schemes.at(-1)!;
    expect('when' in last && last.when !== undefined).toBe(false);
  });

  it.each(presets)('an id of $name is remembered for as long as its timestamp is accepted', (preset) => {
    for (const scheme of preset.schemes) {
      const tolerance = 'signature' in scheme ? (scheme.timestamp?.toleranceSeconds ?? 0) : 0;
      expect(preset.idempotencyTtlSeconds).toBeGreaterThanOrEqual(tolerance);
    }
  });

  it.each(presets)('the settings that $name reads are those that it asks for', (preset) => {
    const asked = new Set((preset.settings ?? []).map(({ name }) => name));
    const read = [...JSON.stringify(preset).matchAll(/setting:([a-z-]+)/g)].map(([, name]) => name!);
    expect(new Set(read)).toEqual(asked);
  });
});

describe('what a preset signs', () => {
  it.each(signing)('a request signed as $name does is verified', (preset) => {
    const verified = check(preset, sign(preset));
    expect(verified).toMatchObject({ kind: 'verified' });
  });

  it.each(signing.filter(({ strength }) => strength === 'body'))(
    'a changed byte of a body that $name covers is a mismatch',
    (preset) => {
      const changed = Buffer.from(body);
      changed[changed.length - 3]! ^= 1;
      expect(check(preset, sign(preset), changed).kind).toBe('mismatch');
    },
  );

  it.each(presets.filter(({ strength }) => strength !== 'nothing'))(
    'a request of $name without proof is missing it, and no other secret verifies one',
    (preset) => {
      expect(check(preset, { headers, url })).toMatchObject({ kind: 'missing' });
      if (onlyTheProviderSigns.has(preset.name)) return;
      const other = { secrets: [{ id: 's2', key: `${key.slice(2)}ff` }], settings };
      expect(verifyRequest(preset.schemes, other, view(sign(preset), body), now).kind).toBe('mismatch');
      expect(
        verifyRequest(preset.schemes, { secrets: [], settings }, view(sign(preset), body), now).kind,
      ).toBe('mismatch');
    },
  );

  it.each(presets.filter(({ name }) => onlyTheProviderSigns.has(name)))(
    'the relay says that it cannot sign as $name does',
    (preset) => {
      expect(() => sign(preset)).toThrow(RangeError);
    },
  );
});

describe('identity', () => {
  const identityOf = (name: string, over: unknown, given: Record<string, string> = {}) =>
    identify(findPreset(name)!, {}, view({ headers: given, url }, Buffer.from(JSON.stringify(over))));

  it('the id, the type and the ordering key of a Stripe event are those of its body', () => {
    const event = { id: 'evt_1', type: 'charge.succeeded', data: { object: { id: 'ch_1' } } };
    expect(identityOf('stripe', event)).toEqual({
      webhookId: 'evt_1',
      eventType: 'charge.succeeded',
      orderingKey: 'ch_1',
    });
  });

  it('the event type of GitHub is the event and its action', () => {
    const given = { 'x-github-event': 'pull_request', 'x-github-delivery': 'd1' };
    expect(identityOf('github', { action: 'opened', repository: { id: 7 } }, given)).toEqual({
      webhookId: 'd1',
      eventType: 'pull_request.opened',
      orderingKey: '7',
    });
    expect(identityOf('github', {}, given).eventType).toBe('pull_request');
  });

  it('two WooCommerce events of the same second are two webhooks', () => {
    const given = { 'x-wc-webhook-delivery-id': 'same' };
    const first = identityOf('woocommerce', { id: 1 }, given).webhookId;
    expect(identityOf('woocommerce', { id: 2 }, given).webhookId).not.toBe(first);
    expect(identityOf('woocommerce', { id: 1 }, given).webhookId).toBe(first);
  });

  it('a webhook without an id of its own is known by the hash of its body', () => {
    expect(identityOf('paystack', { event: 'charge.success' }).webhookId).toMatch(/^[0-9a-f]{64}$/);
  });

  it('the event type of Telegram is the member of the update that is not its id', () => {
    expect(identityOf('telegram', { update_id: 9, edited_message: {} })).toMatchObject({
      webhookId: '9',
      eventType: 'edited_message',
    });
  });

  it('a long number is an id digit by digit', () => {
    const raw = Buffer.from('{"update_id":12345678901234567890,"s":"1","message":{}}');
    const long = identify(findPreset('telegram')!, {}, view({ headers: {}, url }, raw));
    expect(long.webhookId).toBe('12345678901234567890');
  });
});
