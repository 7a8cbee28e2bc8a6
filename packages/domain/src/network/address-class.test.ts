import { describe, expect, it } from 'vitest';
import { addressClass, containsAddress, parseAddress, parseCidr } from './address-class.ts';

describe('parseAddress', () => {
  it.each([
    ['1.2.3.4', '01020304'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3::8', '00010002000300000000000000000008'],
    ['FE80::ABCD', 'fe80000000000000000000000000abcd'],
    ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['0:0:0:1:0:0:0:0', '00000000000000010000000000000000'],
  ])('reads %s', (ip, hex) => {
    expect(Buffer.from(parseAddress(ip)!).toString('hex')).toBe(hex);
  });

  it.each(['', '1.2.3', '1.2.3.4 ', 'fe80::1%eth0', '::1::', '[::1]', '12345::'])(
    'makes nothing of %j',
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});

describe('containsAddress', () => {
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
  ])('%s and %s: %s', (cidr, ip, contained) => {
    expect(containsAddress(parseCidr(cidr), parseAddress(ip)!)).toBe(contained);
  });
});

describe('addressClass', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['169.254.169.254', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['100.64.0.1', 'shared'],
    ['255.255.255.255', 'broadcast'],
    ['254.255.255.255', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['2001:0:1::1', 'reserved'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec3::254', 'private'],
  ])('of %s is %s', (ip, kind) => {
    expect(addressClass(parseAddress(ip)!)).toEqual({ kind });
  });

  it.each([
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:0:1.2.3.4', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['2002:102:304:5::6', '1.2.3.4'],
  ])('of %s is that of the %s it stands for', (ip, ipv4) => {
    expect(addressClass(parseAddress(ip)!).embedded?.join('.')).toBe(ipv4);
  });
});
