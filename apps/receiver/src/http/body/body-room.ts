import {
  IncompleteBodies,
  largeBytesOf,
  type EvictReason,
  type IncompleteBody,
  type IncompleteLimits,
} from './incomplete-bodies.ts';
import { LargeBodyLine } from './large-body-line.ts';

export type RoomLimits = IncompleteLimits & {
  /** For all bodies, from their arrival until their answer. */
  heldBytesMax: number;
  /** How long a large body waits for room. */
  roomWithinMs: number;
};

/** The memory for the bodies of a process: a bound for all, one for the large ones, and one for those of an address. */
export class BodyRoom {
  readonly #limits: RoomLimits;
  readonly #incomplete: IncompleteBodies;
  readonly #line: LargeBodyLine;
  #heldBytes = 0;
  #largeBytes = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
    this.#incomplete = new IncompleteBodies(limits);
    this.#line = new LargeBodyLine({
      hasRoom: (bytes) => !this.#isFull(bytes),
      hasShare: (address, bytes) => this.#incomplete.hasShare(address, bytes),
      waitMs: limits.roomWithinMs,
    });
  }

  /** A body begins to arrive. `evict` must lead to `leave`. */
  enter(address: string, evict: (reason: EvictReason) => void): IncompleteBody {
    return this.#incomplete.add(address, evict);
  }

  /** The body is complete or given up, and holds so many bytes until `release`. */
  leave(body: IncompleteBody, bytes: number): void {
    const { heldBytes } = body;
    this.#incomplete.remove(body);
    this.#count(heldBytes, bytes);
    // A complete body leaves the share of its address.
    this.#line.admit();
  }

  release(bytes: number): void {
    this.#count(bytes, 0);
    this.#line.admit();
  }

  /** The body holds so many bytes now. False when there is no room for them, even without the large bodies that are slow. */
  hold(body: IncompleteBody, bytes: number): boolean {
    this.#count(body.heldBytes, bytes);
    return this.#incomplete.hold(body, bytes) && this.#makeRoom(0, largeBytesOf(bytes) > 0);
  }

  /** The body holds nothing from now on; it keeps its deadline. */
  drop(body: IncompleteBody): void {
    const { heldBytes } = body;
    this.#incomplete.drop(body);
    this.#count(heldBytes, 0);
    this.#line.admit();
  }

  /**
   * Calls `begin` once: with true when a large body has room for `bytes`, which it must `hold`, or with false when it has
   * waited too long. The returned function gives up.
   */
  wait({ address }: IncompleteBody, bytes: number, begin: (fits: boolean) => void): () => void {
    this.#makeRoom(bytes);
    this.#incomplete.makeShare(address, bytes);
    return this.#line.join(address, bytes, begin);
  }

  #count(before: number, now: number): void {
    this.#heldBytes += now - before;
    this.#largeBytes += largeBytesOf(now) - largeBytesOf(before);
  }

  /** Evicts large bodies that are slow until there is room for so many bytes more. */
  #makeRoom(bytes: number, isLarge = largeBytesOf(bytes) > 0): boolean {
    while (this.#isFull(bytes, isLarge)) {
      if (!this.#incomplete.evictSlowest()) return false;
    }
    return true;
  }

  #isFull(bytes: number, isLarge = largeBytesOf(bytes) > 0): boolean {
    const { heldBytesMax, largeBytesMax } = this.#limits;
    if (this.#heldBytes + bytes > heldBytesMax) return true;
    return isLarge && this.#largeBytes + largeBytesOf(bytes) > largeBytesMax;
  }
}
