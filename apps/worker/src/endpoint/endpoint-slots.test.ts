import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointSlots, slotsOf } from './endpoint-slots.ts';

afterEach(() => {
  vi.useRealTimers();
});

function slots({ perEndpoint = 4, total = 100 } = {}) {
  vi.useFakeTimers();
  return new EndpointSlots({ perEndpoint: () => perEndpoint, total, waitMs: 1_000 });
}

/** How many of `tries` deliveries of an endpoint get a slot at once. */
async function takenAtOnce(all: EndpointSlots, endpointId: string, tries: number): Promise<number> {
  let taken = 0;
  for (let count = 0; count < tries; count += 1) {
    void all.take(endpointId, 1).then((isTaken) => (taken += Number(isTaken)));
  }
  await vi.advanceTimersByTimeAsync(0);
  return taken;
}

describe('the slots of an endpoint', () => {
  it('are as many as it may have, and whoever comes then waits for the next that is free', async () => {
    const all = slots();
    expect(await takenAtOnce(all, 'a', 4)).toBe(4);
    const fifth = all.take('a', 1);
    all.free('a', 1);
    expect(await fifth).toBe(true);
    expect(all.room('a')).toBe(0);
  });

  it('are not waited for longer than a second', async () => {
    const all = slots();
    await takenAtOnce(all, 'a', 4);
    const early = all.take('a', 1);
    await vi.advanceTimersByTimeAsync(600);
    const late = all.take('a', 1);
    await vi.advanceTimersByTimeAsync(400);
    expect(await early).toBe(false);
    all.free('a', 1);
    expect(await late).toBe(true);
  });

  it('are waited for by nobody any more once somebody has waited in vain, until half of them are free', async () => {
    const all = slots();
    await takenAtOnce(all, 'a', 5);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await all.take('a', 1)).toBe(false);
    expect(all.room('a')).toBe(0);
    all.free('a', 1);
    expect(all.room('a')).toBe(0);
    all.free('a', 1);
    expect(all.room('a')).toBe(2);
    expect(await all.take('a', 1)).toBe(true);
  });

  it('are not fewer for what another endpoint has in flight', async () => {
    const all = slots();
    await takenAtOnce(all, 'a', 50);
    expect(await takenAtOnce(all, 'b', 4)).toBe(4);
  });

  it('are half of what is free at most, so that many endpoints that hang leave something to those that answer', async () => {
    const all = slots({ perEndpoint: 100, total: 400 });
    const taken: number[] = [];
    for (const endpointId of ['a', 'b', 'c', 'd', 'e', 'f'])
      taken.push(await takenAtOnce(all, endpointId, 100));
    expect(taken).toEqual([100, 100, 100, 50, 25, 12]);
    expect(await takenAtOnce(all, 'answers', 4)).toBe(4);
  });

  it('are taken several by a large body, and one such body always has its turn', async () => {
    expect(slotsOf(1_024)).toBe(1);
    expect(slotsOf(1 << 20)).toBe(17);
    const all = slots();
    expect(await all.take('a', 17)).toBe(true);
    const second = all.take('a', 17);
    all.free('a', 17);
    expect(await second).toBe(true);
  });

  it('let a large body in as soon as one of them is free, however busy the endpoint is', async () => {
    const all = slots();
    await takenAtOnce(all, 'a', 4);
    const large = all.take('a', slotsOf(1 << 20));
    all.free('a', 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await large).toBe(true);
  });

  it('are waited for by nobody when the worker stops', async () => {
    const all = slots();
    await takenAtOnce(all, 'a', 4);
    const waiting = all.take('a', 1);
    all.stop();
    expect(await waiting).toBe(false);
    expect(await all.take('a', 1)).toBe(false);
  });

  it('are counted also when somebody waited before everybody had left', async () => {
    const all = slots({ perEndpoint: 4, total: 8 });
    await takenAtOnce(all, 'a', 4);
    const waited = all.take('a', 1);
    for (let count = 0; count < 4; count += 1) all.free('a', 1);
    await waited;
    all.free('a', 1);
    await takenAtOnce(all, 'a', 4);
    // The second that somebody waited in is over.
    await vi.advanceTimersByTimeAsync(1_500);
    expect(all.room('a')).toBe(0);
    for (let count = 0; count < 4; count += 1) all.free('a', 1);
    expect(await takenAtOnce(all, 'b', 4)).toBe(4);
    expect(all.room('a')).toBe(4);
  });

  it('are all free again when everybody has left', async () => {
    const all = slots({ perEndpoint: 50, total: 50 });
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const taken = await takenAtOnce(all, 'a', 25);
      expect(taken).toBe(25);
      for (let count = 0; count < taken; count += 1) all.free('a', 1);
    }
    expect(all.room('a')).toBe(50);
  });
});
