import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { describe, expect, it } from 'vitest';
import { createGuardedLookup } from './guarded-lookup.ts';

const strict = parsePolicy({ allowPrivate: false, allowCidrs: [] });

function addresses(...list: string[]): LookupAddress[] {
  return list.map((address) => ({ address, family: isIP(address) }));
}

function look(lookup: LookupFunction, hostname: string, options = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true, ...options }, (error, address) =>
      error ? reject(error) : resolve(address),
    );
  });
}

describe('the guarded lookup', () => {
  it('hands over exactly the addresses it has judged', async () => {
    const lookup = createGuardedLookup(strict, async () => addresses('93.184.215.14', '2606:2800:21f::1'));
    expect(await look(lookup, 'example.com')).toEqual(addresses('93.184.215.14', '2606:2800:21f::1'));
    expect(await look(lookup, 'example.com', { all: false })).toBe('93.184.215.14');
    expect(await look(lookup, 'example.com', { family: 6 })).toEqual(addresses('2606:2800:21f::1'));
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ])('fails for a name that resolves to %s, even beside a public address', async (forbidden) => {
    const alone = createGuardedLookup(strict, async () => addresses(forbidden));
    await expect(look(alone, 'evil.example')).rejects.toThrow(/^evil\.example resolves to /);
    const beside = createGuardedLookup(strict, async () => addresses('93.184.215.14', forbidden));
    await expect(look(beside, 'evil.example')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });

  it('judges again when the answer of a name has changed', async () => {
    let answer = addresses('93.184.215.14');
    let clock = 0;
    const lookup = createGuardedLookup(
      strict,
      async () => answer,
      () => clock,
    );
    expect(await look(lookup, 'rebind.example')).toEqual(addresses('93.184.215.14'));
    answer = addresses('127.0.0.1');
    expect(await look(lookup, 'rebind.example')).toEqual(addresses('93.184.215.14'));
    clock = 5_001;
    await expect(look(lookup, 'rebind.example')).rejects.toThrow('127.0.0.1');
  });

  it('asks once for many sockets at the same time, and again after a failure', async () => {
    let questions = 0;
    let fails = true;
    const lookup = createGuardedLookup(strict, async () => {
      questions += 1;
      if (fails) throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
      return addresses('93.184.215.14');
    });
    const failures = await Promise.allSettled([1, 2, 3].map(() => look(lookup, 'example.com')));
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(questions).toBe(1);
    fails = false;
    await Promise.all([1, 2, 3].map(() => look(lookup, 'example.com')));
    expect(questions).toBe(2);
  });

  it('says not found for a name without an address', async () => {
    const lookup = createGuardedLookup(strict, async () => []);
    await expect(look(lookup, 'example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
