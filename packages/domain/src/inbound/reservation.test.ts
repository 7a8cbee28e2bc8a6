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

describe('of several prior webhooks', () => {
  const found = (fields: Partial<PriorWebhook>): PriorWebhook => ({
    id: 'a',
    payloadSha256: 'x',
    state: 'released',
    isCarried: false,
    ...fields,
  });

  it.each([
    [
      'one that is accepted decides before one that is released',
      found({}),
      found({ id: 'b', state: 'accepted' }),
      'b',
    ],
    [
      'one that is being accepted decides before one that is released',
      found({}),
      found({ id: 'b', state: 'reserved' }),
      'b',
    ],
    [
      'the one of the id decides where both are accepted',
      found({ state: 'accepted' }),
      found({ id: 'b', state: 'accepted' }),
      'a',
    ],
    [
      'a released one with other bytes decides nothing',
      found({ payloadSha256: 'y' }),
      found({ id: 'b' }),
      'b',
    ],
    ['none may be there', null, null, undefined],
  ])('%s', (_title, byId, byContent, expected) => {
    expect(decidingPrior([byId, byContent], 'x')?.id).toBe(expected);
  });
});

describe('the keys of a request that stand for a webhook', () => {
  const webhook: PriorWebhook = { id: 'a', payloadSha256: 'x', state: 'accepted', isCarried: true };

  it('are all of them when it is a new webhook, or a duplicate of the same id and body', () => {
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, null)).toEqual(bothKeys);
    expect(keysOfWebhook({ payloadSha256: 'x' }, webhook, webhook)).toEqual(bothKeys);
  });

  it('are not those of its content when the webhook has another body', () => {
    expect(keysOfWebhook({ payloadSha256: 'y' }, webhook, webhook)).toEqual({ id: true, content: false });
  });

  it('are not that of its id when the webhook was accepted under another one', () => {
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
  ] as const)('(%s, body %s, %s)', (state, payloadSha256, onConflict, expected) => {
    const decision = decide({ payloadSha256, onConflict }, { held: { ...held, state }, isMine: false }, null);
    expect(decision).toMatchObject({ ...expected, id: 'a', own: 'keep' });
  });
});
