import { beforeEach, describe, expect, it } from 'vitest';
import { Circuit } from './circuit.ts';

let circuit: Circuit;

beforeEach(() => {
  circuit = new Circuit({ firstOpenMs: 500, longestOpenMs: 1_500, trialMs: 200 });
});

describe('a circuit', () => {
  it('a new circuit is closed and allows every caller', () => {
    expect(circuit.isOpen).toBe(false);
    expect([circuit.allows(0), circuit.allows(0)]).toEqual([true, true]);
  });

  it('a failure opens the circuit, and no caller is allowed for a time', () => {
    circuit.failed(1_000);
    expect(circuit.isOpen).toBe(true);
    expect(circuit.allows(1_000)).toBe(false);
    expect(circuit.allows(1_499)).toBe(false);
  });

  it('an open circuit allows one trial after its time, and the next when that one stays undecided', () => {
    circuit.failed(1_000);
    expect([circuit.allows(1_500), circuit.allows(1_500), circuit.allows(1_699)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(circuit.isOpen).toBe(true);
    expect([circuit.allows(1_700), circuit.allows(1_700)]).toEqual([true, false]);
  });

  it('a trial that succeeds closes the circuit', () => {
    circuit.failed(1_000);
    circuit.allows(1_500);
    circuit.succeeded();
    expect(circuit.isOpen).toBe(false);
    expect(circuit.allows(1_500)).toBe(true);
  });

  it('each trial that fails doubles the time that the circuit is open, up to a bound', () => {
    circuit.failed(0);
    const opensAgainAt = [];
    for (let now = 0; now < 10_000; now += 100) {
      if (!circuit.allows(now)) continue;
      opensAgainAt.push(now);
      circuit.failed(now);
    }
    expect(opensAgainAt).toEqual([500, 1_500, 3_000, 4_500, 6_000, 7_500, 9_000]);
  });

  it('a circuit that was closed opens for the first, short time again', () => {
    circuit.failed(0);
    circuit.allows(500);
    circuit.failed(500);
    circuit.succeeded();
    circuit.failed(2_000);
    expect(circuit.allows(2_499)).toBe(false);
    expect(circuit.allows(2_500)).toBe(true);
  });

  it('failures of callers that were allowed before the circuit opened do not keep it open', () => {
    circuit.failed(1_000);
    for (let late = 1_001; late < 1_400; late += 50) circuit.failed(late);
    expect(circuit.allows(1_500)).toBe(true);
  });
});
