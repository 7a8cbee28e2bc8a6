/** In ms. */
export type Percentiles = { p50: number; p95: number; p99: number };

/** Each slot of `hqrelay_latency_slot` ends at 1.05 times the end of the slot before. */
const slotGrowth = 1.05;
/** A slot in two bytes, then a count in four. */
const pairBytes = 6;
/** Slot 1,023 begins at more milliseconds than any time has. */
const slots = 1_024;

/** Used by every call, because a page of statistics has a thousand histograms. */
const counts = new Float64Array(slots);

/**
 * The percentiles of a histogram of latencies: pairs of a slot and a count, in any order, where the counts of equal slots add up.
 * So histograms are merged by putting one behind the other. Null when it is empty.
 */
export function percentilesOf(histogram: Buffer): Percentiles | null {
  const total = countInto(counts, histogram);
  if (total === 0) return null;
  const ranks = [0.5, 0.95, 0.99].map((share) => Math.ceil(total * share));
  const [p50, p95, p99] = slotsAt(counts, ranks).map(middleOf) as [number, number, number];
  return { p50, p95, p99 };
}

/** Returns the sum of the counts. The bytes are read by their index: `readUInt16BE` and its like take eight times as long. */
function countInto(into: Float64Array, histogram: Buffer): number {
  into.fill(0);
  let total = 0;
  const byte = (at: number) => histogram[at] as number;
  for (let at = 0; at < histogram.length; at += pairBytes) {
    const slot = (byte(at) << 8) | byte(at + 1);
    const count = byte(at + 2) * 2 ** 24 + ((byte(at + 3) << 16) | (byte(at + 4) << 8) | byte(at + 5));
    into[slot] = (into[slot] as number) + count;
    total += count;
  }
  return total;
}

/** The slots that values of these ranks, counted from 1 and rising, lie in. */
function slotsAt(counted: Float64Array, ranks: readonly number[]): number[] {
  const found: number[] = [];
  let upTo = 0;
  for (let slot = 0; found.length < ranks.length; slot += 1) {
    upTo += counted[slot] as number;
    while (found.length < ranks.length && (ranks[found.length] as number) <= upTo) found.push(slot);
  }
  return found;
}

/** The middle of a slot, on its logarithmic scale, to a tenth of a millisecond. */
function middleOf(slot: number): number {
  return Math.max(1, Math.round(slotGrowth ** (slot - 0.5) * 10) / 10);
}
