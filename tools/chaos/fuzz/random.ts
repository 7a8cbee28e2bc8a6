/** Random choices that a seed and a number determine. */
export type Random = {
  /** An integer from 0 to `below` - 1. */
  int: (below: number) => number;
  pick: <Item>(items: readonly Item[]) => Item;
  /** True once in so many times. */
  once: (inTimes: number) => boolean;
  bytes: (length: number) => Buffer;
  /** Characters of the alphabet. */
  text: (length: number, alphabet?: string) => string;
};

const wordCharacters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

/** The generator is mulberry32. Each pair of seed and number has choices of its own, so that one case can be made alone. */
export function randomOf(seed: number, number: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  const pick = <Item>(items: readonly Item[]): Item => items[int(items.length)] as Item;
  return {
    int,
    pick,
    once: (inTimes) => int(inTimes) === 0,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
    text: (length, alphabet = wordCharacters) =>
      Array.from({ length }, () => alphabet[int(alphabet.length)]).join(''),
  };
}
