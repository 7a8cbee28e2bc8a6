import { describe, expect, it } from 'vitest';
import { addressClass, isAddress, isIn, parseNetworks } from './address-class.ts';

describe('isAddress', () => {
  it.each(['1.2.3.4', '::', '1:2:3::8', 'FE80::ABCD', '::ffff:1.2.3.4'])('%s is an IP address', (text) => {
    expect(isAddress(text)).toBe(true);
  });

  it.each(['', '1.2.3', '1.2.3.4 ', 'fe80::1%eth0', '::1::', '[::1]', '12345::', '0x7f.1', '010.0.0.1'])(
    'the text %j is not an IP address',
    (text) => {
      expect(isAddress(text)).toBe(false);
    },
  );
});

describe('parseNetworks', () => {
  it.each([
    ['0.0.0.0/0', '203.0.113.9', true],
    ['203.0.113.9', '203.0.113.9', true],
    ['203.0.113.9/32', '203.0.113.8', false],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['::/0', '203.0.113.9', false],
    ['0.0.0.0/0', '::1', false],
    ['fe80::/10', 'febf:ffff::', true],
    ['fe80::/10', 'fec0::', false],
    [' 10.0.0.0/8 ', '10.1.2.3', true],
  ])('a lookup in the network %j for the address %s returns %s', (network, ip, contained) => {
    expect(isIn(parseNetworks([network]), ip)).toBe(contained);
  });

  it.each([
    '',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'fd00::/129',
    'fe80::1%eth0/64',
    'x/8',
  ])('the network %j is refused by an error that quotes it', (text) => {
    expect(() => parseNetworks(['10.0.0.0/8', text])).toThrow(JSON.stringify(text));
  });
});

describe('addressClass', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['2a00::1', 'public'],
    ['169.254.169.254', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['100.64.0.1', 'shared'],
    ['192.0.0.192', 'metadata'],
    ['192.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['254.255.255.255', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['2001:0:1::1', 'reserved'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec3::254', 'private'],
    ['4000::1', 'reserved'],
    ['::2', 'reserved'],
  ])('the class of the address %s is %s', (ip, kind) => {
    expect(addressClass(ip)).toEqual({ kind });
  });

  it.each([
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:0:1', '0.0.0.1'],
    ['::ffff:0:1.2.3.4', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['64:ff9b::', '0.0.0.0'],
    ['2002:102:304:5::6', '1.2.3.4'],
    ['2002:7f00:1::', '127.0.0.1'],
    ['2002::', '0.0.0.0'],
  ])('the IPv6 address %s stands for the IPv4 address %s', (ip, ipv4) => {
    expect(addressClass(ip).embedded).toBe(ipv4);
  });
});
