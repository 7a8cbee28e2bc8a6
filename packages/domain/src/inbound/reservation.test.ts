import { describe, expect, it } from 'vitest';
import {
  accept,
  decide,
  needsLookUp,
  release,
  reserve,
  type PriorWebhook,
  type Reservation,
} from './reservation.ts';

const request = { id: 'b', payloadSha256: 'x', token: 'token b' };
const held: Reservation = {
  state: 'reserved',
  id: 'a',
  payloadSha256: 'x',
  token: 'token a',
  reservedAt: 50_000,
};

describe('a key', () => {
  it('keeps its id when the retry takes it over after ten seconds', () => {
    expect(reserve(held, request, 59_999)).toEqual({ held, isMine: false, tookOver: false });
    expect(reserve(held, request, 60_000)).toMatchObject({
      held: { state: 'reserved', id: 'a', token: 'token b' },
      isMine: true,
      tookOver: true,
    });
  });

  it('is released by the request that reserved it, and by no other', () => {
    expect(release(held, 'token a')).toMatchObject({ state: 'released', id: 'a' });
    expect(release(held, 'token b')).toEqual(held);
    const accepted = accept(held, 51_000);
    expect(release(accepted, 'token a')).toEqual(accepted);
  });

  it('is looked up in Postgres after a takeover and when the store remembers less than a window', () => {
    const windowMs = 86_400_000;
    expect(needsLookUp({ tookOver: false, memoryAgeMs: windowMs, windowMs })).toBe(false);
    expect(needsLookUp({ tookOver: true, memoryAgeMs: windowMs, windowMs })).toBe(true);
    expect(needsLookUp({ tookOver: false, memoryAgeMs: 1_000, windowMs })).toBe(true);
  });
});

describe('a request that reserved the key', () => {
  const own = { ...reserve(null, request, 0), isMine: true };
  const priorOf = (fields: Partial<PriorWebhook>): PriorWebhook => ({
    id: 'a',
    payloadSha256: 'x',
    state: 'accepted',
    isCarried: true,
    ...fields,
  });
  const other = { payloadSha256: 'y' };

  it.each([
    ['no prior webhook', null, { kind: 'admit', id: 'b', own: 'keep', isReplay: false }],
    ['an accepted one that a message carries', priorOf({}), { kind: 'duplicate', id: 'a', own: 'accept' }],
    ['an accepted one with other bytes', priorOf(other), { kind: 'conflict', id: 'a', own: 'accept' }],
    [
      'an accepted one that perhaps no message carries',
      priorOf({ isCarried: false }),
      { kind: 'admit', id: 'a', own: 'keep', isReplay: true },
    ],
    [
      'one with other bytes that perhaps no message carries',
      priorOf({ ...other, isCarried: false }),
      { kind: 'conflict', id: 'a', own: 'release' },
    ],
    ['one that is being accepted', priorOf({ state: 'reserved' }), { kind: 'wait', id: 'a', own: 'release' }],
    [
      'a released one',
      priorOf({ state: 'released', isCarried: false }),
      { kind: 'admit', id: 'a', own: 'keep', isReplay: false },
    ],
    [
      'a released one with other bytes',
      priorOf({ ...other, state: 'released', isCarried: false }),
      { kind: 'admit', id: 'b', own: 'keep', isReplay: false },
    ],
  ])('and Postgres knows %s', (_prior, prior, expected) => {
    expect(decide({ payloadSha256: 'x', onConflict: 'reject' }, own, prior)).toMatchObject(expected);
  });

  it('waits where its bytes only stand for others that perhaps no message carries', () => {
    const prior = priorOf({ ...other, isCarried: false });
    const decision = decide({ payloadSha256: 'x', onConflict: 'duplicate' }, own, prior);
    expect(decision).toMatchObject({ kind: 'wait', own: 'release', keepsId: false });
  });
});

describe('a request whose key another request holds', () => {
  it.each([
    ['reserved', 'x', 'reject', { kind: 'wait', keepsId: true }],
    ['reserved', 'y', 'reject', { kind: 'wait', keepsId: false }],
    ['accepted', 'x', 'reject', { kind: 'duplicate' }],
    ['accepted', 'y', 'reject', { kind: 'conflict' }],
    ['accepted', 'y', 'duplicate', { kind: 'duplicate' }],
  ] as const)('(%s, body %s, %s)', (state, payloadSha256, onConflict, expected) => {
    const decision = decide({ payloadSha256, onConflict }, { held: { ...held, state }, isMine: false }, null);
    expect(decision).toMatchObject({ ...expected, id: 'a', own: 'keep' });
  });
});
