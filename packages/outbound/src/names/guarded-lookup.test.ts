import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createGuardedLookup } from './guarded-lookup.ts';
import type { ResolveHost } from './resolve-host.ts';

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

const untilAborted: ResolveHost = (_hostname, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

afterEach(() => {
  vi.useRealTimers();
});

describe('the guarded lookup', () => {
  it('the guarded look-up returns exactly the addresses that it checked', async () => {
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
  ])('a name that resolves to %s is refused, even beside a public address', async (forbidden) => {
    const alone = createGuardedLookup(strict, async () => addresses(forbidden));
    await expect(look(alone, 'evil.example')).rejects.toThrow(/^evil\.example resolves to /);
    const beside = createGuardedLookup(strict, async () => addresses('93.184.215.14', forbidden));
    await expect(look(beside, 'evil.example')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });

  it('the addresses of a name are checked again when its answer has changed', async () => {
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

  it('simultaneous sockets to one name share a query', async () => {
    let questions = 0;
    const lookup = createGuardedLookup(strict, async () => {
      questions += 1;
      return addresses('93.184.215.14');
    });
    await Promise.all([1, 2, 3].map(() => look(lookup, 'example.com')));
    expect(questions).toBe(1);
  });

  it('a failed look-up is cached for 2 s', async () => {
    let questions = 0;
    let clock = 0;
    const lookup = createGuardedLookup(
      strict,
      async () => {
        questions += 1;
        if (questions === 1) throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
        return addresses('93.184.215.14');
      },
      () => clock,
    );
    await expect(look(lookup, 'example.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
    clock = 1_999;
    await expect(look(lookup, 'example.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(questions).toBe(1);
    clock = 2_000;
    expect(await look(lookup, 'example.com')).toEqual(addresses('93.184.215.14'));
  });

  it('the failure of a shared look-up reaches the sockets that wait for it 5 ms apart', async () => {
    vi.useFakeTimers();
    const lookup = createGuardedLookup(strict, async () => {
      throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
    });
    let failed = 0;
    for (let socket = 0; socket < 100; socket += 1) look(lookup, 'silent.example').catch(() => (failed += 1));
    await vi.advanceTimersByTimeAsync(0);
    expect(failed).toBe(1);
    await vi.advanceTimersByTimeAsync(245);
    expect(failed).toBe(50);
    await vi.advanceTimersByTimeAsync(250);
    expect(failed).toBe(100);
  });

  it('a look-up is cancelled after 5 s', async () => {
    vi.useFakeTimers();
    const lookup = createGuardedLookup(strict, untilAborted);
    const looking = look(lookup, 'example.com').catch((error: unknown) => (error as Error).message);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await looking).toBe('aborted');
  });

  it('the oldest look-up is cancelled when a thousand others are in flight', async () => {
    const lookup = createGuardedLookup(strict, untilAborted);
    const oldest = look(lookup, 'oldest.example');
    for (let count = 0; count < 1_000; count += 1) look(lookup, `name-${count}.example`).catch(() => {});
    await expect(oldest).rejects.toThrow('aborted');
  });

  it('a name without an address is reported as not found', async () => {
    const lookup = createGuardedLookup(strict, async () => []);
    await expect(look(lookup, 'example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
