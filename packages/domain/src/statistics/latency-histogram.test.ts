import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentilesOf } from './latency-histogram.ts';

// The same values in every run: a search for new faults is not a check of a change.
fc.configureGlobal({ seed: 20_261_122 });

/** As `hqrelay_latency_slot` in SQL. */
const slotOf = (ms: number) => Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(1.05));

function histogramOf(values: readonly number[]): Buffer {
  return Buffer.concat(
    values.map((ms) => {
      const pair = Buffer.alloc(6);
      pair.writeUInt16BE(slotOf(ms));
      pair.writeUInt32BE(1, 2);
      return pair;
    }),
  );
}

function exactly(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] as number;
}

const days48 = 48 * 86_400_000;

describe('the percentiles of a latency histogram', () => {
  it('each percentile is within 5 % of the exact one, for any values from 1 ms to 48 days', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: days48 }), { minLength: 1, maxLength: 200 }),
        (values) => {
          const found = percentilesOf(histogramOf(values));
          if (!found) throw new Error('there are values');
          for (const [ms, share] of [
            [found.p50, 0.5],
            [found.p95, 0.95],
            [found.p99, 0.99],
          ] as const) {
            expect(Math.abs(ms / exactly(values, share) - 1)).toBeLessThan(0.05);
          }
        },
      ),
    );
  });

  it('histograms that are put one behind the other have the percentiles of all their values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1 }), { minLength: 1 }),
        (parts) => {
          expect(percentilesOf(Buffer.concat(parts.map(histogramOf)))).toEqual(
            percentilesOf(histogramOf(parts.flat())),
          );
        },
      ),
    );
  });

  it('an empty histogram has no percentiles', () => {
    expect(percentilesOf(Buffer.alloc(0))).toBeNull();
  });
});
