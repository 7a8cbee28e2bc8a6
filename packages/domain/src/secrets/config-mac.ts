import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { SecretKeys } from './secret-box.ts';

/** Keys for the MACs of cached configuration: `current` makes them, every one of `all` verifies. */
export type ConfigMacKeys = { current: KeyObject; all: readonly KeyObject[] };

/** What one MAC covers: a configuration, its project and version, and until when it may be used, ms since epoch. */
export type CachedContent = { projectId: string; version: number; expiresAt: number; content: string };

const purpose = 'hqrelay/cached-project-config/v1';

/** One key for each of HQRELAY_SECRETS_KEY, derived with HKDF-SHA256: a MAC says nothing about the key that seals secrets. */
export function configMacKeys(keys: SecretKeys): ConfigMacKeys {
  const derive = (key: KeyObject) => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
  return { current: derive(keys.current.key), all: [...keys.all.values()].map(({ key }) => derive(key)) };
}

/** The MAC of a cached configuration: HMAC-SHA256 in base64url. */
export function createMac(keys: ConfigMacKeys, cached: CachedContent): string {
  return macOf(keys.current, cached).toString('base64url');
}

/** Whether one of the keys made this MAC. */
export function isAuthentic(keys: ConfigMacKeys, cached: CachedContent, mac: string): boolean {
  const given = Buffer.from(mac, 'base64url');
  return keys.all.some((key) => {
    const expected = macOf(key, cached);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}

/** Neither an id nor a number has a space, so the parts cannot run into each other. */
function macOf(key: KeyObject, { projectId, version, expiresAt, content }: CachedContent): Buffer {
  return createHmac('sha256', key).update(`${projectId} ${version} ${expiresAt} ${content}`).digest();
}
