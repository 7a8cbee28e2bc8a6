import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { configMacKeys, isAuthentic, createMac } from './config-mac.ts';
import { parseSecretKeys } from './secret-box.ts';

const newKey = () => randomBytes(32).toString('base64');
const keysOf = (...list: string[]) => configMacKeys(parseSecretKeys(list.join()));
const cached = { projectId: 'p1', version: 7, expiresAt: 1_000, content: '{"enabled":true}' };

describe('the MAC of a cached configuration', () => {
  it('the MAC of a cached configuration verifies with the key that made it', () => {
    const keys = keysOf(newKey());
    expect(isAuthentic(keys, cached, createMac(keys, cached))).toBe(true);
  });

  it.each([
    ['of another project', { projectId: 'p2' }],
    ['of another version', { version: 8 }],
    ['of a later expiry', { expiresAt: 2_000 }],
    ['of another content', { content: '{"enabled":false}' }],
  ])('the MAC of a cached configuration does not verify for one %s', (_which, change) => {
    const keys = keysOf(newKey());
    expect(isAuthentic(keys, { ...cached, ...change }, createMac(keys, cached))).toBe(false);
  });

  it('a MAC of another key, a truncated MAC and an absent MAC do not verify', () => {
    const keys = keysOf(newKey());
    const mac = createMac(keys, cached);
    expect(isAuthentic(keysOf(newKey()), cached, mac)).toBe(false);
    expect(isAuthentic(keys, cached, mac.slice(0, -4))).toBe(false);
    expect(isAuthentic(keys, cached, '')).toBe(false);
  });

  it('a MAC verifies on both sides of a rotation, while the list names both keys', () => {
    const [older, newer] = [newKey(), newKey()];
    const mac = createMac(keysOf(older), cached);
    expect(isAuthentic(keysOf(newer, older), cached, mac)).toBe(true);
    expect(isAuthentic(keysOf(older, newer), cached, createMac(keysOf(newer, older), cached))).toBe(true);
    expect(isAuthentic(keysOf(newer), cached, mac)).toBe(false);
  });
});
