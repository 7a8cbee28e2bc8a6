import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointSlots, slotsOf } from './endpoint-slots.ts';

afterEach(() => {
  vi.useRealTimers();
});

function createSlots({ perEndpoint = 4, total = 100 } = {}) {
  vi.useFakeTimers();
  return new EndpointSlots({ perEndpoint: () => perEndpoint, total, waitMs: 1_000 });
}

/** How many of `tries` deliveries of an endpoint get a slot at once. */
async function takenAtOnce(slots: EndpointSlots, endpointId: string, tries: number): Promise<number> {
  let taken = 0;
  for (let count = 0; count < tries; count += 1) {
    void slots.take(endpointId, 1).then((isTaken) => (taken += Number(isTaken)));
  }
  await vi.advanceTimersByTimeAsync(0);
  return taken;
}

describe('the slots of an endpoint', () => {
  it('go to the first that waits when all are taken and one is freed', async () => {
    const slots = createSlots();
    expect(await takenAtOnce(slots, 'a', 4)).toBe(4);
    const fifth = slots.take('a', 1);
    slots.free('a', 1);
    expect(await fifth).toBe(true);
    expect(slots.room('a')).toBe(0);
  });

  it('are refused to a delivery that has waited for a second', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 4);
    const early = slots.take('a', 1);
    await vi.advanceTimersByTimeAsync(600);
    const late = slots.take('a', 1);
    await vi.advanceTimersByTimeAsync(400);
    expect(await early).toBe(false);
    slots.free('a', 1);
    expect(await late).toBe(true);
  });

  it('are refused at once after a delivery has waited in vain, until half of them are free', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 5);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await slots.take('a', 1)).toBe(false);
    expect(slots.room('a')).toBe(0);
    slots.free('a', 1);
    expect(slots.room('a')).toBe(0);
    slots.free('a', 1);
    expect(slots.room('a')).toBe(2);
    expect(await slots.take('a', 1)).toBe(true);
  });

  it('are not fewer because another endpoint has deliveries in flight', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 50);
    expect(await takenAtOnce(slots, 'b', 4)).toBe(4);
  });

  it('are half of the free ones at most, so that many endpoints that hang leave some to those that answer', async () => {
    const slots = createSlots({ perEndpoint: 100, total: 400 });
    const taken: number[] = [];
    for (const endpointId of ['a', 'b', 'c', 'd', 'e', 'f'])
      taken.push(await takenAtOnce(slots, endpointId, 100));
    expect(taken).toEqual([100, 100, 100, 50, 25, 12]);
    expect(await takenAtOnce(slots, 'answers', 4)).toBe(4);
  });

  it('are taken several at once by a large body', async () => {
    expect(slotsOf(1_024)).toBe(1);
    expect(slotsOf(1 << 20)).toBe(17);
    const slots = createSlots();
    expect(await slots.take('a', 17)).toBe(true);
    const second = slots.take('a', 17);
    slots.free('a', 17);
    expect(await second).toBe(true);
  });

  it('admit a large body as soon as one of them is free, however busy the endpoint is', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 4);
    const large = slots.take('a', slotsOf(1 << 20));
    slots.free('a', 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await large).toBe(true);
  });

  it('are refused to all that wait when the worker stops', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 4);
    const waiting = slots.take('a', 1);
    slots.stop();
    expect(await waiting).toBe(false);
    expect(await slots.take('a', 1)).toBe(false);
  });

  it('are counted right when a delivery waited before all others left', async () => {
    const slots = createSlots({ perEndpoint: 4, total: 8 });
    await takenAtOnce(slots, 'a', 4);
    const waited = slots.take('a', 1);
    for (let count = 0; count < 4; count += 1) slots.free('a', 1);
    await waited;
    slots.free('a', 1);
    await takenAtOnce(slots, 'a', 4);
    // The timer of the delivery that waited has fired.
    await vi.advanceTimersByTimeAsync(1_500);
    expect(slots.room('a')).toBe(0);
    for (let count = 0; count < 4; count += 1) slots.free('a', 1);
    expect(await takenAtOnce(slots, 'b', 4)).toBe(4);
    expect(slots.room('a')).toBe(4);
  });

  it('are all free again when all deliveries have left', async () => {
    const slots = createSlots({ perEndpoint: 50, total: 100 });
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const taken = await takenAtOnce(slots, 'a', 50);
      expect(taken).toBe(50);
      for (let count = 0; count < taken; count += 1) slots.free('a', 1);
    }
    expect(slots.room('a')).toBe(50);
  });
});
