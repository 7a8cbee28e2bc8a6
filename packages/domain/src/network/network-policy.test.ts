import { describe, expect, it } from 'vitest';
import { checkAddress, checkEndpointUrl, parsePolicy } from './network-policy.ts';

const strict = parsePolicy({ allowPrivate: false, allowCidrs: [] });
const development = parsePolicy({ allowPrivate: true, allowCidrs: [] });
const withNetworks = parsePolicy({
  allowPrivate: false,
  allowCidrs: ['10.20.0.0/16', 'fd12:3456::/32', '192.0.2.7'],
});
const withEverything = parsePolicy({ allowPrivate: true, allowCidrs: ['0.0.0.0/0', '::/0'] });

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2001:200::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
];

const privateAddresses = [
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '::1',
  'fc00::1',
  'fdff:ffff::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:127.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1',
  '2002:a00:1::',
  '2002:7f00:1::1',
];

const reservedAddresses = [
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '240.0.0.1',
  '::2',
  '::7f00:1',
  '::10.0.0.1',
  '100::1',
  '64:ff9b:1::a00:1',
  '2001::1',
  '2001:0:7f00:1::1',
  '2001:20::1',
  '2001:db8::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fec0::1',
];

const neverAllowed = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fe80::1',
  'fe80::a9fe:a9fe',
  'febf::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::169.254.169.254',
  '2002:a9fe:a9fe::1',
  '::ffff:0:a9fe:a9fe',
  '::',
  '0.0.0.0',
  '0.1.2.3',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  'ff02::1',
];

describe('checkAddress', () => {
  it.each(publicAddresses)('the public address %s is allowed', (ip) => {
    expect(checkAddress(strict, ip)).toEqual({ allowed: true });
  });

  it.each([...privateAddresses, ...reservedAddresses])('the non-public address %s is refused', (ip) => {
    expect(checkAddress(strict, ip)).toMatchObject({ allowed: false });
  });

  it.each(privateAddresses)('the private address %s is allowed in development', (ip) => {
    expect(checkAddress(development, ip)).toEqual({ allowed: true });
  });

  it.each(reservedAddresses)('the reserved address %s is refused in development too', (ip) => {
    expect(checkAddress(development, ip).allowed).toBe(false);
  });

  it.each(neverAllowed)('the address %s is refused in every configuration', (ip) => {
    for (const policy of [strict, development, withNetworks, withEverything]) {
      expect(checkAddress(policy, ip).allowed).toBe(false);
    }
  });

  it('the addresses of the configured networks are allowed, and no other private ones are', () => {
    for (const ip of ['10.20.0.1', '10.20.255.255', '::ffff:10.20.0.1', 'fd12:3456:1::1', '192.0.2.7']) {
      expect(checkAddress(withNetworks, ip)).toEqual({ allowed: true });
    }
    for (const ip of [
      '10.19.255.255',
      '10.21.0.0',
      '::ffff:10.21.0.0',
      'fd12:3457::1',
      '192.0.2.8',
      '127.0.0.1',
    ]) {
      expect(checkAddress(withNetworks, ip).allowed).toBe(false);
    }
  });

  it('the reason for refusing an address names its class', () => {
    expect(checkAddress(strict, '10.0.0.1')).toEqual({
      allowed: false,
      reason: '10.0.0.1, which is a private address',
    });
    expect(checkAddress(strict, '::ffff:a9fe:a9fe')).toEqual({
      allowed: false,
      reason: '::ffff:a9fe:a9fe, which stands for 169.254.169.254, which is a metadata address',
    });
  });

  it('the reason for refusing an address has the article that fits its class', () => {
    expect(checkAddress(strict, '0.0.0.0')).toMatchObject({
      reason: '0.0.0.0, which is an unspecified address',
    });
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.1.1.1',
    '2130706433',
    '0x7f.1',
    '1.1.1.1/32',
    ' 1.1.1.1',
    '1.1.1.1\0',
    '[::1]',
    ':::1',
    '1::2::3',
    '2606:4700:4700::1111%eth0',
    'g::1',
    '1:'.repeat(100_000),
  ])('a text that is not an IP address is refused (case %#)', (text) => {
    expect(checkAddress(development, text)).toEqual({ allowed: false, reason: 'not an IP address' });
  });
});

describe('parsePolicy', () => {
  it.each([
    '10.0.0.0/33',
    'fc00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0/8',
    'private',
    '',
    '/8',
    '::1%lo/128',
  ])('the network %j is refused by an error that quotes it', (cidr) => {
    const parse = () => parsePolicy({ allowPrivate: false, allowCidrs: ['10.0.0.0/8', cidr] });
    expect(parse).toThrow(RangeError);
    expect(parse).toThrow(JSON.stringify(cidr));
  });

  it('the prefix of a network need not end at a byte boundary', () => {
    const policy = parsePolicy({ allowPrivate: false, allowCidrs: ['10.128.0.0/9', 'fd00:8000::/17'] });
    expect(checkAddress(policy, '10.128.0.1').allowed).toBe(true);
    expect(checkAddress(policy, '10.127.255.255').allowed).toBe(false);
    expect(checkAddress(policy, 'fd00:8000::1').allowed).toBe(true);
    expect(checkAddress(policy, 'fd00:7fff::1').allowed).toBe(false);
  });
});

describe('checkEndpointUrl', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443/hooks?a=b%20c',
    'https://EXAMPLE.com./x',
    'https://münchen.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://localhost.example.com/',
    'https://mylocalhost/',
  ])('the endpoint URL %s is accepted', (url) => {
    const checked = checkEndpointUrl(strict, url);
    expect(checked).toEqual({ ok: true, url: new URL(url) });
  });

  it.each([
    'http://127.0.0.1/',
    'https://127.0.0.1/',
    'https://127.0.0.1./',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://①②⑦.0.0.1/',
    'https://127%2e0%2e0%2e1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://10.0.0.1:8080/',
    'https://0/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://api.localhost/',
  ])('the endpoint URL %s is refused for its address', (url) => {
    expect(reasonAgainst(url)).toMatch(/^the URL leads to .+, which is an? .+ address$/);
  });

  it.each([
    ['', 'not a URL'],
    ['example.com', 'not a URL'],
    ['https://', 'not a URL'],
    ['https://256.1.1.1/', 'not a URL'],
    ['https://example.com:99999/', 'not a URL'],
    ['ftp://example.com/', 'not http or https'],
    ['file:///etc/passwd', 'not http or https'],
    ['javascript:alert(1)', 'not http or https'],
    ['https://user:hunter2@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['https://:hunter2@example.com/', 'credentials'],
    ['https://example.com/#frag', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com:0/', 'port 0'],
    [' https://example.com/', 'white space'],
    ['https://example.com/a b', 'white space'],
    ['https://exa\nmple.com/', 'white space'],
    ['https://example.com/\0', 'control character'],
    ['https:\\\\example.com\\', 'backslash'],
    ['http://example.com/', 'not https'],
    ['http://8.8.8.8/', 'not https'],
    [`https://example.com/${'a'.repeat(2048)}`, 'longer than 2048'],
    [`https://example.com/${'é'.repeat(1000)}`, 'encoded URL is longer than 2048'],
    [`https://${'a'.repeat(1_000_000)}`, 'longer than 2048'],
  ])('an endpoint URL is refused with a reason that hides its password (case %#)', (url, reason) => {
    expect(reasonAgainst(url)).toContain(reason);
    expect(reasonAgainst(url)).not.toContain('hunter2');
  });

  it('an endpoint URL of exactly 2048 characters is accepted', () => {
    const url = `https://example.com/${'a'.repeat(2048 - 20)}`;
    expect(url).toHaveLength(2048);
    expect(checkEndpointUrl(strict, url).ok).toBe(true);
  });

  it('plain http is accepted in development, except to the never-allowed addresses', () => {
    for (const url of [
      'http://localhost:4000/',
      'http://127.0.0.1/',
      'http://[::1]:80/',
      'http://example.com/',
    ]) {
      expect(checkEndpointUrl(development, url).ok).toBe(true);
    }
    expect(checkEndpointUrl(development, 'http://169.254.169.254/').ok).toBe(false);
    expect(checkEndpointUrl(development, 'http://[::ffff:169.254.169.254]/').ok).toBe(false);
  });

  it('plain http is accepted to an address of an allowed network, but not to a host name or elsewhere', () => {
    expect(checkEndpointUrl(withNetworks, 'http://10.20.1.1/').ok).toBe(true);
    expect(checkEndpointUrl(withNetworks, 'https://10.20.1.1/').ok).toBe(true);
    expect(checkEndpointUrl(withNetworks, 'http://10.21.1.1/').ok).toBe(false);
    expect(checkEndpointUrl(withNetworks, 'http://8.8.8.8/').ok).toBe(false);
    expect(checkEndpointUrl(withNetworks, 'http://service.internal/').ok).toBe(false);
  });
});

function reasonAgainst(url: string): string {
  const checked = checkEndpointUrl(strict, url);
  if (checked.ok) throw new Error('the URL was accepted');
  return checked.reason;
}
