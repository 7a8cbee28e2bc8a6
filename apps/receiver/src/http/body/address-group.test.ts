import { expect, it } from 'vitest';
import { addressGroup } from './address-group.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:0001:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
  ['unknown', 'unknown'],
  ['2001:db8::1::2', '2001:db8::1::2'],
])('the address %j belongs to %j', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
