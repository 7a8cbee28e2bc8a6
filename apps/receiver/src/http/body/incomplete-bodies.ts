import { addressGroup } from './address-group.ts';

export type IncompleteLimits = {
  /** For the large bodies of all addresses. */
  largeBytesMax: number;
  /** A large body that takes longer may be evicted to make room for others. */
  slowAfterMs: number;
  deadlineMs: number;
};

export type IncompleteBody = {
  readonly address: string;
  /** `performance.now()`, ms, as `largeSince`. */
  readonly startedAt: number;
  heldBytes: number;
  /** Set once the body is large. */
  share?: Share | undefined;
  largeSince?: number;
  readonly evict: (reason: EvictReason) => void;
};

/** `late`: it passed its deadline. `room`: others need what it holds. */
export type EvictReason = 'late' | 'room';

/** Bodies of up to this size never count as large, so that those of a thousand connections behind a proxy fit. */
const smallBodyBytes = 16_384;

/** What a body that holds so many bytes counts among the large ones. */
export function largeBytesOf(heldBytes: number): number {
  return Math.max(0, heldBytes - smallBodyBytes);
}

const sweepEveryMs = 250;

/** The large bodies of one address, the oldest first. */
type Share = { readonly group: string; bytes: number; readonly bodies: Set<IncompleteBody> };

/** The bodies that are still arriving. All of them have a deadline, and large ones share a budget with those of their address. */
export class IncompleteBodies {
  readonly #limits: IncompleteLimits;
  /** The oldest first, here and in the sets below. */
  readonly #bodies = new Set<IncompleteBody>();
  readonly #large = new Set<IncompleteBody>();
  readonly #shares = new Map<string, Share>();
  #isSweeping = false;

  constructor(limits: IncompleteLimits) {
    this.#limits = limits;
  }

  /** `evict` must lead to `remove`. */
  add(address: string, evict: (reason: EvictReason) => void): IncompleteBody {
    const body: IncompleteBody = { address, startedAt: performance.now(), heldBytes: 0, evict };
    this.#bodies.add(body);
    this.#sweepLater();
    return body;
  }

  remove(body: IncompleteBody): void {
    this.#bodies.delete(body);
    this.drop(body);
  }

  /** The body holds nothing from now on; it keeps its deadline. */
  drop(body: IncompleteBody): void {
    this.#large.delete(body);
    const { share, heldBytes } = body;
    body.share = undefined;
    body.heldBytes = 0;
    if (!share) return;
    share.bytes -= largeBytesOf(heldBytes);
    share.bodies.delete(body);
    if (share.bodies.size === 0) this.#shares.delete(share.group);
  }

  /** Whether another body of the address fits. The first one always does. */
  hasShare(address: string, heldBytes: number): boolean {
    const share = this.#shares.get(addressGroup(address));
    return share === undefined || this.#fits(share, largeBytesOf(heldBytes));
  }

  /** Evicts slow bodies of the address until another one fits, or none is slow. */
  makeShare(address: string, heldBytes: number): void {
    while (!this.hasShare(address, heldBytes)) {
      const bodies = this.#shares.get(addressGroup(address))?.bodies;
      if (!bodies || !this.#evictFirst(bodies)) return;
    }
  }

  /** The body holds so many bytes now. False when they do not fit its address, even without slow bodies of it. */
  hold(body: IncompleteBody, heldBytes: number): boolean {
    const added = largeBytesOf(heldBytes) - largeBytesOf(body.heldBytes);
    body.heldBytes = heldBytes;
    if (added === 0) return true;
    const share = (body.share ??= this.#joinShare(body));
    share.bytes += added;
    while (share.bodies.size > 1 && !this.#fits(share)) {
      if (!this.#evictFirst(share.bodies, body)) return false;
    }
    return true;
  }

  /** The shares of all addresses are equal, and there is one more for an address that has none yet. */
  #fits({ bytes }: Share, largeBytes = 0): boolean {
    return bytes + largeBytes <= this.#limits.largeBytesMax / (this.#shares.size + 1);
  }

  /** Evicts the slowest large body of any address; false when none is slow. */
  evictSlowest(): boolean {
    return this.#evictFirst(this.#large);
  }

  #joinShare(body: IncompleteBody): Share {
    const group = addressGroup(body.address);
    const share = this.#shares.get(group) ?? { group, bytes: 0, bodies: new Set() };
    this.#shares.set(group, share);
    share.bodies.add(body);
    body.largeSince = performance.now();
    this.#large.add(body);
    return share;
  }

  #evictFirst(bodies: ReadonlySet<IncompleteBody>, newest?: IncompleteBody): boolean {
    const [first] = bodies;
    if (!first || first === newest) return false;
    if (performance.now() - (first.largeSince ?? 0) < this.#limits.slowAfterMs) return false;
    first.evict('room');
    return true;
  }

  #sweep(): void {
    const startedBefore = performance.now() - this.#limits.deadlineMs;
    for (const body of this.#bodies) {
      if (body.startedAt > startedBefore) break;
      body.evict('late');
    }
    this.#isSweeping = false;
    if (this.#bodies.size > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    setTimeout(() => this.#sweep(), sweepEveryMs).unref();
  }
}
