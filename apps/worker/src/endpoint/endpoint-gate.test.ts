import type { Postgres } from '@hqrelay/db/postgres';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointGate, type Pass, type Room } from './endpoint-gate.ts';

const timeoutMs = 1_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Needs no Postgres, because a closed breaker never queries it. */
function createGate(workers = 1) {
  return new EndpointGate({
    postgres: undefined as unknown as Postgres,
    now: Date.now,
    workers: () => workers,
    slots: { live: 2_000, retries: 480, replays: 320 },
    onChange: () => {},
    onError: () => {},
  });
}

/** The passes that `tries` deliveries get at once. */
async function enterAtOnce(
  gate: EndpointGate,
  lane: string,
  endpointId: string,
  tries = 300,
): Promise<Pass[]> {
  const passes: Pass[] = [];
  const entrance = gate.entrance(lane);
  for (let count = 0; count < tries; count += 1) {
    void Promise.resolve(entrance.enter(endpointId, timeoutMs)).then(
      (pass) => typeof pass === 'object' && passes.push(pass),
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  return passes;
}

describe('the gate of an endpoint', () => {
  it('each lane has a thirty-second of the cap to itself, and the lanes together never exceed the cap', async () => {
    const gate = createGate();
    expect(await enterAtOnce(gate, 'live', 'a')).toHaveLength(240);
    expect(await enterAtOnce(gate, 'retries', 'a')).toHaveLength(8);
    expect(await enterAtOnce(gate, 'replays', 'a')).toHaveLength(8);
    gate.stop();
  });

  it('a delivery that waits in one lane is admitted when a delivery of another lane leaves', async () => {
    const gate = createGate();
    const retries = await enterAtOnce(gate, 'retries', 'a', 240);
    expect(retries).toHaveLength(240);
    const live = await enterAtOnce(gate, 'live', 'a', 8);
    expect(live).toHaveLength(8);
    const waiting = gate.entrance('live').enter('a', timeoutMs);
    retries[0]?.leave('none');
    expect(await waiting).toBeTypeOf('object');
    gate.stop();
  });

  it('three endpoints that hang leave slots in their lane', async () => {
    const gate = createGate();
    const taken = [];
    for (const endpointId of ['a', 'b', 'c']) {
      taken.push((await enterAtOnce(gate, 'retries', endpointId)).length);
    }
    expect(taken).toEqual([240, 120, 60]);
    expect(await enterAtOnce(gate, 'retries', 'answers', 30)).toHaveLength(30);
    gate.stop();
  });

  it('a released delivery takes room of its endpoint and of its lane before it arrives, and not twice', async () => {
    const gate = createGate();
    const roomOf = (endpointId: string) => {
      const room = gate.room(endpointId);
      return room.kind === 'room' ? room.deliveriesInto('retries') : undefined;
    };
    expect(roomOf('a')).toBe(240);
    for (let count = 0; count < 240; count += 1) gate.expect('a', 'retries');
    expect(roomOf('a')).toBe(0);
    expect(roomOf('b')).toBe(120);
    expect(await enterAtOnce(gate, 'retries', 'a', 240)).toHaveLength(240);
    expect(roomOf('b')).toBe(120);
    gate.stop();
  });

  it('the room of a released delivery that never arrives is free again after five seconds', () => {
    vi.useFakeTimers();
    const gate = createGate(2);
    const room = () => (gate.room('a') as Extract<Room, { kind: 'room' }>).deliveriesInto('retries');
    for (let count = 0; count < 240; count += 1) gate.expect('a', 'retries');
    expect(room()).toBe(0);
    vi.advanceTimersByTime(5_000);
    expect(room()).toBe(240);
  });

  it('workers share the cap of an endpoint, and each admits one delivery where they outnumber the slots', async () => {
    const share = createGate(16);
    expect(await enterAtOnce(share, 'live', 'a')).toHaveLength(14);
    share.stop();
    const one = createGate(300);
    expect(await enterAtOnce(one, 'live', 'a')).toHaveLength(1);
    one.stop();
  });
});
