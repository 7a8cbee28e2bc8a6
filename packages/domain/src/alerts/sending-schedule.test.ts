import { expect, it } from 'vitest';
import { emailAddressProblem } from './email-address.ts';
import { nextTryAt } from './sending-schedule.ts';

it('a message is tried again after 10 s, later once an hour, and given up after a week', () => {
  const tries: number[] = [];
  let now: number | undefined = 0;
  for (let attemptNum = 1; now !== undefined; attemptNum += 1) {
    tries.push(now);
    now = nextTryAt({ createdAt: 0, attemptNum }, now);
  }
  expect(tries.slice(0, 4)).toEqual([0, 10_000, 40_000, 100_000]);
  expect(tries.at(-1)! - tries.at(-2)!).toBe(3_600_000);
  expect(tries.at(-1)).toBeGreaterThan(6.9 * 86_400_000);
  expect(tries.length).toBeLessThan(180);
});

it.each([
  'ops@example.com\r\nBcc: a@example.com',
  'a@example.com,b@example.com',
  'Ops <ops@example.com>',
  '"a b"@example.com',
  'ops@',
  'ops',
  '',
  ' ops@example.com',
])('%j is no address of a rule', (text) => {
  expect(emailAddressProblem(text)).toBeDefined();
});

it.each(['ops@example.com', 'o.p+s@sub.example.co', 'root@localhost'])(
  '%s is an address of a rule',
  (text) => {
    expect(emailAddressProblem(text)).toBeUndefined();
  },
);
