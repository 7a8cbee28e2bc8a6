import { createDecipheriv, createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { open, parseSecretKeys, seal, SecretUnreadable } from './secret-box.ts';

const oldKey = Buffer.alloc(32, 7).toString('base64');
const newKey = Buffer.alloc(32, 9).toString('base64');
const keys = parseSecretKeys(oldKey);
const row = 'project_secrets:017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

function flip(sealed: string, index: number): string {
  const bytes = Buffer.from(sealed, 'base64');
  bytes[index]! ^= 1;
  return bytes.toString('base64');
}

describe('a sealed secret', () => {
  it.each(['whsec_abc', '', 'şifre 🔑', 'a\0b', 'x'.repeat(1_000_000)])(
    'a sealed secret opens to its plaintext (case %#)',
    (plaintext) => {
      expect(open(keys, seal(keys, plaintext, row), row)).toBe(plaintext);
    },
  );

  it('a sealed secret is AES-256-GCM: iv, tag and ciphertext in base64, with the row as additional data', () => {
    const { sealed } = seal(keys, 'whsec_abc', row);
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', Buffer.alloc(32, 7), bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from(row));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const plaintext = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    expect(plaintext.toString()).toBe('whsec_abc');
  });

  it('a secret that is sealed twice has two different forms', () => {
    const sealed = new Set(Array.from({ length: 100 }, () => seal(keys, 'same', row).sealed));
    expect(sealed.size).toBe(100);
  });

  it('a sealed secret does not open in another row', () => {
    const box = seal(keys, 'whsec_abc', row);
    expect(() => open(keys, box, 'project_secrets:another')).toThrow(SecretUnreadable);
  });

  it('a sealed secret does not open when a bit of its iv, tag or ciphertext has changed', () => {
    const { keyId, sealed } = seal(keys, 'whsec_abc', row);
    for (const index of [0, 11, 12, 27, 28, 36]) {
      expect(() => open(keys, { keyId, sealed: flip(sealed, index) }, row)).toThrow(SecretUnreadable);
    }
  });

  it('a sealed secret does not open when it is truncated, extended or not base64', () => {
    const { keyId, sealed } = seal(keys, 'whsec_abc', row);
    const bytes = Buffer.from(sealed, 'base64');
    const broken = [
      '',
      '!!!',
      bytes.subarray(0, 27).toString('base64'),
      bytes.subarray(0, 28).toString('base64'),
      bytes.subarray(0, -1).toString('base64'),
      Buffer.concat([bytes, Buffer.of(0)]).toString('base64'),
    ];
    for (const each of broken)
      expect(() => open(keys, { keyId, sealed: each }, row)).toThrow(SecretUnreadable);
  });

  it('an error about a sealed secret names its key id and row, and no value', () => {
    const { keyId, sealed } = seal(keys, 'whsec_abc', row);
    const other = parseSecretKeys(newKey);
    expect(() => open(other, { keyId, sealed }, row)).toThrow(
      `${row} was sealed with key ${keyId}, which HQRELAY_SECRETS_KEY does not list`,
    );
    const message = messageOf(() => open(keys, { keyId, sealed: flip(sealed, 30) }, row));
    expect(message).toContain(keyId);
    expect(message).toContain(row);
    expect(message).not.toContain('whsec_abc');
    expect(message).not.toContain(oldKey);
  });
});

describe('a list of keys', () => {
  it('a list of keys names a key by the first 8 hex digits of its SHA-256', () => {
    const digest = createHash('sha256').update(Buffer.alloc(32, 7)).digest('hex');
    expect(keys.current.id).toBe(digest.slice(0, 8));
    expect(seal(keys, 'x', row).keyId).toBe(digest.slice(0, 8));
  });

  it('a list of keys encrypts with its first and decrypts with all', () => {
    const box = seal(keys, 'whsec_abc', row);
    const rotated = parseSecretKeys(`${newKey}, ${oldKey}`);
    expect(open(rotated, box, row)).toBe('whsec_abc');
    expect(seal(rotated, 'x', row).keyId).toBe(parseSecretKeys(newKey).current.id);
    expect([...rotated.all.keys()]).toEqual([parseSecretKeys(newKey).current.id, keys.current.id]);
  });

  it('a list of keys may omit the padding and repeat a key', () => {
    expect(parseSecretKeys(oldKey.replace('=', '')).current.id).toBe(keys.current.id);
    expect(parseSecretKeys(`${oldKey},${oldKey}`).all.size).toBe(1);
  });

  it('a list of keys shows no key when it is printed', () => {
    const shown = inspect(keys, { depth: 10, showHidden: true }) + JSON.stringify(keys);
    expect(shown).not.toContain(oldKey);
    expect(shown).not.toContain(Buffer.alloc(32, 7).toString('hex'));
    expect(shown).not.toContain('07 07');
  });

  it.each([
    ['', 'the key is empty'],
    ['   ', 'the key is empty'],
    [`${oldKey},`, 'key 2 is empty'],
    [`,${oldKey}`, 'key 1 is empty'],
    ['not base64!', 'the key is not base64'],
    [`${oldKey},ключ`, 'key 2 is not base64'],
    [Buffer.alloc(31).toString('base64'), 'the key is 31 bytes long instead of 32'],
    [Buffer.alloc(33).toString('base64'), 'the key is 33 bytes long instead of 32'],
    [Buffer.alloc(32, 7).toString('hex'), 'the key is 48 bytes long instead of 32'],
    ['A'.repeat(1_000_000), 'the key is 750000 bytes long instead of 32'],
  ])('an invalid list of keys is refused without being shown (case %#)', (list, message) => {
    const thrown = messageOf(() => parseSecretKeys(list));
    expect(thrown).toContain(message);
    expect(thrown).toContain('openssl rand -base64 32');
    expect(thrown).not.toContain(list.trim() || oldKey);
  });
});

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('expected an error');
}
