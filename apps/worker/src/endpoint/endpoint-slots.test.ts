import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointSlots } from './endpoint-slots.ts';

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
    void Promise.resolve(slots.take(endpointId)).then((isTaken) => (taken += Number(isTaken)));
  }
  await vi.advanceTimersByTimeAsync(0);
  return taken;
}

describe('the slots of an endpoint', () => {
  it('a freed slot goes to the first delivery that waits when all slots are taken', async () => {
    const slots = createSlots();
    expect(await takenAtOnce(slots, 'a', 4)).toBe(4);
    const fifth = slots.take('a');
    slots.free('a');
    expect(await fifth).toBe(true);
    expect(slots.room('a')).toBe(0);
  });

  it('a delivery that has waited for a slot for a second is refused', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 4);
    const early = slots.take('a');
    await vi.advanceTimersByTimeAsync(600);
    const late = slots.take('a');
    await vi.advanceTimersByTimeAsync(400);
    expect(await early).toBe(false);
    slots.free('a');
    expect(await late).toBe(true);
  });

  it('after a delivery was refused, later ones are refused at once until half of the slots are free', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 5);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await slots.take('a')).toBe(false);
    expect(slots.room('a')).toBe(0);
    slots.free('a');
    expect(slots.room('a')).toBe(0);
    slots.free('a');
    expect(slots.room('a')).toBe(2);
    expect(await slots.take('a')).toBe(true);
  });

  it('an endpoint has all its slots while another endpoint has deliveries in flight', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 50);
    expect(await takenAtOnce(slots, 'b', 4)).toBe(4);
  });

  it('an endpoint gets at most half of the free slots, so that many that hang leave some to the others', async () => {
    const slots = createSlots({ perEndpoint: 100, total: 400 });
    const taken: number[] = [];
    for (const endpointId of ['a', 'b', 'c', 'd', 'e', 'f'])
      taken.push(await takenAtOnce(slots, endpointId, 100));
    expect(taken).toEqual([100, 100, 100, 50, 25, 12]);
    expect(await takenAtOnce(slots, 'answers', 4)).toBe(4);
  });

  it('a delivery waits longer than a second for a slot while its endpoint works through the line', async () => {
    const slots = createSlots({ perEndpoint: 100, total: 1_000 });
    const outcomes: boolean[] = [];
    for (let count = 0; count < 500; count += 1) {
      void Promise.resolve(slots.take('a')).then((isTaken) => outcomes.push(isTaken));
    }
    // 200 a second: the last of the line waits for two seconds.
    for (let count = 0; count < 500; count += 1) {
      await vi.advanceTimersByTimeAsync(5);
      slots.free('a');
    }
    expect(outcomes).toEqual(Array.from({ length: 500 }, () => true));
  });

  it('the last deliveries of a line that moves too slowly are refused, and the first ones get slots', async () => {
    const slots = createSlots({ perEndpoint: 100, total: 1_000 });
    const outcomes: boolean[] = [];
    for (let count = 0; count < 500; count += 1) {
      void Promise.resolve(slots.take('a')).then((isTaken) => (outcomes[count] = isTaken));
    }
    // 40 a second: most of the line would wait for ten seconds.
    for (let count = 0; count < 160; count += 1) {
      await vi.advanceTimersByTimeAsync(25);
      slots.free('a');
    }
    const refused = outcomes.filter((isTaken) => !isTaken).length;
    expect(refused).toBeGreaterThan(300);
    expect(outcomes.slice(0, 500 - refused).every(Boolean)).toBe(true);
  });

  it('every delivery that waits for a slot is refused when the worker stops', async () => {
    const slots = createSlots();
    await takenAtOnce(slots, 'a', 4);
    const waiting = slots.take('a');
    slots.stop();
    expect(await waiting).toBe(false);
    expect(await slots.take('a')).toBe(false);
  });

  it('a delivery that waited and got its slot is not counted again when its timer fires', async () => {
    const slots = createSlots({ perEndpoint: 4, total: 8 });
    await takenAtOnce(slots, 'a', 4);
    const waited = slots.take('a');
    for (let count = 0; count < 4; count += 1) slots.free('a');
    await waited;
    slots.free('a');
    await takenAtOnce(slots, 'a', 4);
    // The timer of the delivery that waited has fired.
    await vi.advanceTimersByTimeAsync(1_500);
    expect(slots.room('a')).toBe(0);
    for (let count = 0; count < 4; count += 1) slots.free('a');
    expect(await takenAtOnce(slots, 'b', 4)).toBe(4);
    expect(slots.room('a')).toBe(4);
  });

  it('all slots are free again when all deliveries have left', async () => {
    const slots = createSlots({ perEndpoint: 50, total: 100 });
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const taken = await takenAtOnce(slots, 'a', 50);
      expect(taken).toBe(50);
      for (let count = 0; count < taken; count += 1) slots.free('a');
    }
    expect(slots.room('a')).toBe(50);
  });
});
