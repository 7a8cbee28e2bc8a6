import { expect, it } from 'vitest';
import { apiRoles, includesRole } from './api-role.ts';
import { hashToken, newToken } from './token.ts';

it('two tokens differ, and each has one hash', () => {
  const [one, other] = [newToken('api_key'), newToken('api_key')];
  expect(one).toMatch(/^hqr_/);
  expect(one).not.toBe(other);
  expect(hashToken('api_key', one)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashToken('api_key', one)).toBe(hashToken('api_key', one));
  expect(hashToken('api_key', one)).not.toBe(hashToken('api_key', other));
});

it('a token of one kind is none of another', () => {
  expect(hashToken('session', newToken('console_link'))).toBeNull();
  expect(hashToken('api_key', newToken('session'))).toBeNull();
  expect(hashToken('console_link', newToken('api_key'))).toBeNull();
});

it.each(['', 'hqr_', 'hqr_short', `hqr_${'a'.repeat(44)}`, `xyz_${'a'.repeat(43)}`, `hqr_${'?'.repeat(43)}`])(
  'the text %j is no API key and has no hash',
  (text) => expect(hashToken('api_key', text)).toBeNull(),
);

it('a role includes itself and the roles before it', () => {
  const included = apiRoles.map((role) => apiRoles.filter((needed) => includesRole(role, needed)));
  expect(included).toEqual([['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'admin']]);
});
