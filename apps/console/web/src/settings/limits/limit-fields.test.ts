import { expect, it } from 'vitest';
import { changesOf, type LimitFields } from './limit-fields.ts';

const before: LimitFields = {
  name: 'Shop',
  rateLimit: '100',
  idempotencyHours: '24',
  onConflict: 'reject',
  sameBody: 'accept',
  searchKeys: '',
};

it('only the limits that were changed are sent', () => {
  expect(changesOf(before, before)).toEqual({});
  expect(changesOf(before, { ...before, idempotencyHours: '0.5', searchKeys: '/order/id, /id' })).toEqual({
    idempotencyTtlSeconds: 1_800,
    searchKeys: ['/order/id', '/id'],
  });
});

it('an emptied rate limit is unlimited', () => {
  expect(changesOf(before, { ...before, rateLimit: ' ' })).toEqual({ rateLimitPerMinute: null });
});
