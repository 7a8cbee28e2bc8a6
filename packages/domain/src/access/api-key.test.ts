import { expect, it } from 'vitest';
import { hashApiKey, newApiKey } from './api-key.ts';
import { apiRoles, includesRole } from './api-role.ts';

it('two API keys differ, and each has one hash', () => {
  const [one, other] = [newApiKey(), newApiKey()];
  expect(one).toMatch(/^hqr_/);
  expect(one).not.toBe(other);
  expect(hashApiKey(one)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashApiKey(one)).toBe(hashApiKey(one));
  expect(hashApiKey(one)).not.toBe(hashApiKey(other));
});

it.each(['', 'hqr_', 'hqr_short', `hqr_${'a'.repeat(44)}`, `xyz_${'a'.repeat(43)}`, `hqr_${'?'.repeat(43)}`])(
  'the text %j is no API key and has no hash',
  (text) => expect(hashApiKey(text)).toBeNull(),
);

it('a role includes itself and the roles before it', () => {
  const included = apiRoles.map((role) => apiRoles.filter((needed) => includesRole(role, needed)));
  expect(included).toEqual([['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'admin']]);
});
