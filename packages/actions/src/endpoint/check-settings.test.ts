import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { describe, expect, it } from 'vitest';
import { checkSettings, type UncheckedSettings } from './check-settings.ts';

const policy = parsePolicy({ allowPrivate: false, allowCidrs: [] });
const check = (settings: UncheckedSettings) => checkSettings(policy, settings, Date.UTC(2026, 0, 1));
const url = 'https://endpoint.example/';

describe('the settings of an endpoint', () => {
  it('settings are taken as they are when they can be used, and when none is given', () => {
    const settings = { url, fixedHeaders: [['X-Tenant', 'acme']] as const, caCertificates: null };
    expect(check(settings)).toEqual({ kind: 'done', value: settings, warnings: [] });
    expect(check({})).toMatchObject({ kind: 'done' });
  });

  it.each<[string, UncheckedSettings, string]>([
    ['a private address', { url: 'https://10.0.0.8/' }, 'endpoint.invalid_url'],
    ['a header of the connection', { url, fixedHeaders: [['Host', 'hush']] }, 'endpoint.invalid_headers'],
    [
      'a header of the relay',
      { url, fixedHeaders: [['Webhook-Signature', 'hush']] },
      'endpoint.invalid_headers',
    ],
    [
      'a header with a line break',
      { url, fixedHeaders: [['X-A', 'hush\r\nX-B: 1']] },
      'endpoint.invalid_headers',
    ],
    ['a header without a name', { url, fixedHeaders: [['', 'hush']] }, 'endpoint.invalid_headers'],
    [
      'a header given twice',
      {
        url,
        fixedHeaders: [
          ['X-A', '1'],
          ['x-a', 'hush'],
        ],
      },
      'endpoint.invalid_headers',
    ],
    [
      'too many headers',
      { url, fixedHeaders: Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'hush'] as const) },
      'endpoint.invalid_headers',
    ],
    ['authorities that are no PEM', { url, caCertificates: 'hush' }, 'endpoint.invalid_certificates'],
    [
      'certificates for plain http',
      { url: 'http://127.0.0.1/', caCertificates: 'hush' },
      'endpoint.invalid_url',
    ],
  ])('settings with %s are refused without repeating a secret', (_what, settings, code) => {
    const result = check(settings);
    expect(result).toMatchObject({ kind: 'refused', code });
    expect(JSON.stringify(result)).not.toContain('hush');
  });
});
