import { describe, expect, it } from 'vitest';
import type { HttpExchange } from '../delivery/attempt-outcome.ts';
import { maskExchange, maskSecrets, secretsSent } from './mask-secrets.ts';

const key = 'k3y-with"quote&amp/slash';

describe('maskSecrets', () => {
  it.each([
    ['literally', `got ${key}.`],
    ['percent-encoded', `?token=${encodeURIComponent(key)}`],
    ['in JSON', JSON.stringify({ token: key })],
    ['in HTML', `<td>${key.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</td>`],
    ['in base64', Buffer.from(key).toString('base64')],
  ])('a secret that is in a text %s is masked', (_, text) => {
    const masked = maskSecrets(text, [key]);
    expect(masked).toContain('***');
    expect(masked).not.toContain('k3y-with');
    expect(masked).not.toContain(Buffer.from(key).toString('base64'));
  });

  it('the longest of overlapping secrets is masked', () => {
    expect(maskSecrets('Bearer abcdef', ['abcdef', 'Bearer abcdef'])).toBe('***');
  });

  it('values that are too short to be secrets are not masked', () => {
    expect(maskSecrets('prod and 12345', ['prod', '12345', ''])).toBe('prod and 12345');
  });
});

describe('secretsSent', () => {
  const sent = secretsSent({
    headers: [
      ['content-type', 'application/json'],
      ['webhook-id', 'not-a-secret'],
      ['webhook-signature', 'v1,c2lnbmF0dXJlLW9uZQ== v1,c2lnbmF0dXJlLXR3bw=='],
      ['X-Hub-Signature-256', 'sha256=0123456789abcdef'],
      ['Authorization', `Basic ${Buffer.from('user:hunter22').toString('base64')}`],
      ['X-Fixed', 'Bearer fixed-value-of-ours'],
    ],
    fixedHeaders: [['X-Fixed', 'Bearer fixed-value-of-ours']],
    credentials: [['Authorization', `Basic ${Buffer.from('user:hunter22').toString('base64')}`]],
    secrets: ['whsec_c2VjcmV0LW9mLXRoZS1lbmRwb2ludA=='],
  });

  it.each([
    ['every signature', ['c2lnbmF0dXJlLW9uZQ==', 'c2lnbmF0dXJlLXR3bw==', '0123456789abcdef']],
    ['the value of a fixed header, with and without its scheme', ['fixed-value-of-ours']],
    ['the password of Basic credentials', ['hunter22', 'user:hunter22']],
    ['a signing secret, with and without its prefix', ['c2VjcmV0LW9mLXRoZS1lbmRwb2ludA==']],
  ])('the secrets sent in a request include %s', (_, values) => {
    for (const value of values)
      expect(maskSecrets(`an answer with ${value} in it`, sent)).not.toContain(value);
  });

  it('the secrets sent in a request include no other header', () => {
    expect(maskSecrets('application/json not-a-secret', sent)).toBe('application/json not-a-secret');
  });
});

describe('maskExchange', () => {
  const response = (bodyHead: Buffer): HttpExchange => ({
    kind: 'response',
    statusCode: 500,
    bodyHead,
    latencyMs: 1,
  });
  const bodyOf = (exchange: HttpExchange) =>
    exchange.kind === 'response' ? Buffer.from(exchange.bodyHead) : Buffer.alloc(0);

  it('a body is masked byte for byte, in any character set', () => {
    const body = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0]),
      Buffer.from('pässwörd-1'),
      Buffer.from([0x80]),
    ]);
    const wire = Buffer.from('pässwörd-1').toString('latin1');
    const masked = bodyOf(maskExchange(response(body), () => [wire]));
    expect(masked).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe, 0]), Buffer.from('***'), Buffer.from([0x80])]),
    );
  });

  it('the part of a secret at which the kept body is cut off is masked', () => {
    const body = Buffer.from(`${'x'.repeat(4_096 - 9)}top-secre`);
    expect(bodyOf(maskExchange(response(body), () => ['top-secret-token'])).toString()).toMatch(/x\*\*\*$/);
  });

  it('the message of an error is masked', () => {
    const error = {
      kind: 'error',
      phase: 'headers',
      code: 'X',
      message: 'Invalid: top-secret',
      latencyMs: 1,
    } as const;
    expect(maskExchange(error, () => ['top-secret'])).toMatchObject({ message: 'Invalid: ***' });
  });

  it('the secrets are not collected for an empty body', () => {
    const exchange = response(Buffer.alloc(0));
    const collect = () => {
      throw new Error('collected');
    };
    expect(maskExchange(exchange, collect)).toBe(exchange);
  });
});
