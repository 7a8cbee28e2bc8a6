/** A webhook of a key; later ones have higher numbers. */
export type Numbered = { key: string; number: number };

/** A sentence for each webhook that arrived after a later one of its key, and for each that never arrived. */
export function judgeArrivals(sent: readonly Numbered[], arrivals: readonly Numbered[]): string[] {
  const problems: string[] = [];
  const highest = new Map<string, number>();
  for (const { key, number } of arrivals) {
    const before = highest.get(key) ?? number;
    if (number < before) problems.push(`of key ${key}, ${number} arrived after ${before}`);
    highest.set(key, Math.max(before, number));
  }
  const arrived = new Set(arrivals.map(({ number }) => number));
  for (const { key, number } of sent)
    if (!arrived.has(number)) problems.push(`of key ${key}, ${number} never arrived`);
  return problems;
}
