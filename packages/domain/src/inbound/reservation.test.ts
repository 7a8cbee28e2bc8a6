import { describe, expect, it } from 'vitest';
import {
  accept,
  decide,
  needsLookUp,
  release,
  reserve,
  bothKeys,
  decidingPrior,
  keysOfWebhook,
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
  it('a key keeps its webhook id when a retry takes it over after ten seconds', () => {
    expect(reserve(held, request, 59_999)).toEqual({ held, isMine: false, tookOver: false });
    expect(reserve(held, request, 60_000)).toMatchObject({
      held: { state: 'reserved', id: 'a', token: 'token b' },
      isMine: true,
      tookOver: true,
    });
  });

  it('a key is released by the request that reserved it, and by no other', () => {
    expect(release(held, 'token a')).toMatchObject({ state: 'released', id: 'a' });
    expect(release(held, 'token b')).toEqual(held);
    const accepted = accept(held, 51_000);
    expect(release(accepted, 'token a')).toEqual(accepted);
  });

  it('a key is looked up in Postgres after a takeover, and when the store remembers less than a window', () => {
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
    ['is admitted without a prior webhook', null, { kind: 'admit', id: 'b', own: 'keep', isReplay: false }],
    ['is a duplicate of an accepted webhook', priorOf({}), { kind: 'duplicate', id: 'a', own: 'accept' }],
    ['conflicts with another accepted body', priorOf(other), { kind: 'conflict', id: 'a', own: 'accept' }],
    [
      'is admitted under the id of an accepted webhook that may have no message',
      priorOf({ isCarried: false }),
      { kind: 'admit', id: 'a', own: 'keep', isReplay: true },
    ],
    [
      'conflicts with another body that may have no message, and releases the key',
      priorOf({ ...other, isCarried: false }),
      { kind: 'conflict', id: 'a', own: 'release' },
    ],
    ['waits for another request', priorOf({ state: 'reserved' }), { kind: 'wait', id: 'a', own: 'release' }],
    [
      'is admitted under the id of a released webhook with the same body',
      priorOf({ state: 'released', isCarried: false }),
      { kind: 'admit', id: 'a', own: 'keep', isReplay: false },
    ],
    [
      'is admitted under its own id after a released webhook with another body',
      priorOf({ ...other, state: 'released', isCarried: false }),
      { kind: 'admit', id: 'b', own: 'keep', isReplay: false },
    ],
  ])('a request that reserved the key %s', (_prior, prior, expected) => {
    expect(decide({ payloadSha256: 'x', onConflict: 'reject' }, own, prior)).toMatchObject(expected);
  });

  it('a request waits when it is a duplicate of another body that may have no message', () => {
    const prior = priorOf({ ...other, isCarried: false });
    const decision = decide({ payloadSha256: 'x', onConflict: 'duplicate' }, own, prior);
    expect(decision).toMatchObject({ kind: 'wait', own: 'release', keepsId: false });
  });
});

describe('several prior webhooks', () => {
  const found = (fields: Partial<PriorWebhook>): PriorWebhook => ({
    id: 'a',
    payloadSha256: 'x',
    state: 'released',
    isCarried: false,
    ...fields,
  });

  it.each([
    [
      'an accepted prior webhook decides before a released one',
      found({}),
      found({ id: 'b', state: 'accepted' }),
      'b',
    ],
    [
      'a reserved prior webhook decides before a released one',
      found({}),
      found({ id: 'b', state: 'reserved' }),
      'b',
    ],
    [
      'the prior webhook of the id decides when both are accepted',
      found({ state: 'accepted' }),
      found({ id: 'b', state: 'accepted' }),
      'a',
    ],
    [
      'a released prior webhook with another body decides nothing',
      found({ payloadSha256: 'y' }),
      found({ id: 'b' }),
      'b',
    ],
    ['no prior webhook decides when none is found', null, null, undefined],
  ])('%s', (_title, byId, byContent, expected) => {
    expect(decidingPrior([byId, byContent], 'x')?.id).toBe(expected);
  });
});

describe('the keys of a request that stand for a webhook', () => {
  const webhook: PriorWebhook = { id: 'a', payloadSha256: 'x', state: 'accepted', isCarried: true };

  it('all keys of a request stand for its webhook if that is new, or has the same id and body', () => {
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, null)).toEqual(bothKeys);
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, webhook)).toEqual(bothKeys);
  });

  it('the content keys of a request do not stand for a webhook with another body', () => {
    expect(keysOfWebhook({ payloadSha256: 'y' }, webhook, webhook)).toEqual({ id: true, content: false });
  });

  it('the id key of a request does not stand for a webhook that was accepted under another id', () => {
    const prior = { ...webhook, byContent: true };
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, prior)).toEqual({ id: false, content: true });
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, { ...prior, state: 'released' })).toEqual(bothKeys);
  });
});

describe('a request whose key another request holds', () => {
  it.each([
    ['reserved', 'x', 'reject', { kind: 'wait', keepsId: true }],
    ['reserved', 'y', 'reject', { kind: 'wait', keepsId: false }],
    ['accepted', 'x', 'reject', { kind: 'duplicate' }],
    ['accepted', 'y', 'reject', { kind: 'conflict' }],
    ['accepted', 'y', 'duplicate', { kind: 'duplicate' }],
  ] as const)('a request (%s key, body %s, %s) gets %j', (state, payloadSha256, onConflict, expected) => {
    const decision = decide({ payloadSha256, onConflict }, { held: { ...held, state }, isMine: false }, null);
    expect(decision).toMatchObject({ ...expected, id: 'a', own: 'keep' });
  });
});
