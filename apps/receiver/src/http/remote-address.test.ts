import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressGroup } from './body/address-group.ts';
import { remoteAddress } from './remote-address.ts';

const proxy = '192.0.2.1';
const anyCharacter = fc.nat(0xffff).map((code) => String.fromCharCode(code));

it.each([
  ['198.51.100.7', '198.51.100.7'],
  ['198.51.100.7:49152', '198.51.100.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['[2001:db8::7]:49152', '2001:db8::7'],
  ['::ffff:198.51.100.7', '::ffff:198.51.100.7'],
  ['unknown', proxy],
  ['_hidden', proxy],
  ['', proxy],
  ['198.51.100.300', proxy],
  ['[198.51.100.7', proxy],
  ["'; drop table webhook_logs; --", proxy],
])('the sender that a proxy names as %j has the address %j', (forwarded, address) => {
  expect(remoteAddress(forwarded, proxy)).toBe(address);
});

it('the address of a sender is that of its connection without a proxy, and null without either', () => {
  expect(remoteAddress(undefined, proxy)).toBe(proxy);
  expect(remoteAddress(undefined, undefined)).toBeNull();
});

it('the address of a sender is an IP address, whatever a proxy passes on', () => {
  const nearlyAddress = fc
    .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.string({ maxLength: 3 }))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(nearlyAddress, fc.string({ unit: anyCharacter })), (forwarded) => {
      expect(isIP(remoteAddress(forwarded, proxy) ?? '')).not.toBe(0);
    }),
  );
});

it('a port that a proxy names changes no address', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV6(), fc.nat(65_535), (v4, v6, port) => {
      expect(remoteAddress(`${v4}:${port}`, proxy)).toBe(v4);
      expect(remoteAddress(`[${v6}]:${port}`, proxy)).toBe(v6);
    }),
  );
});

it('every address has a group, all addresses of an IPv6 /64 the same one, and others another', () => {
  const four = fc.array(fc.nat(65_535), { minLength: 4, maxLength: 4 });
  // ::ffff:a.b.c.d is an IPv4 address.
  const network = four.filter((parts) => parts.some((part) => part > 0));
  const text = (parts: number[]) => parts.map((part) => part.toString(16)).join(':');
  fc.assert(
    fc.property(network, four, four, (own, host, otherHost) => {
      const group = addressGroup(`${text(own)}:${text(host)}`);
      expect(addressGroup(`${text(own)}:${text(otherHost)}`.toUpperCase())).toBe(group);
      const [first = 0, ...rest] = own;
      expect(addressGroup(`${text([first ^ 1, ...rest])}:${text(host)}`)).not.toBe(group);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (address) => {
      expect(typeof addressGroup(address)).toBe('string');
    }),
  );
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(addressGroup(`::ffff:${address}`)).toBe(addressGroup(address));
    }),
  );
});
