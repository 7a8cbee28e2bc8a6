import { addressGroup } from './address-group.ts';

export type IncompleteLimits = {
  /** What the large bodies of one address may hold. */
  incompleteBytesPerAddressMax: number;
  /** A large body that takes longer may be evicted to make room for others. */
  slowAfterMs: number;
  deadlineMs: number;
};

export type IncompleteBody = {
  readonly address: string;
  readonly startedAt: number;
  /** What counts for the address: the bytes beyond those of a small body. */
  largeBytes: number;
  /** Set once the body is large. */
  share?: Share;
  readonly evict: () => void;
};

/** Bodies of up to this size do not count for their address, so that those of a thousand connections behind a proxy fit. */
const smallBodyBytes = 16_384;
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
  add(address: string, evict: () => void): IncompleteBody {
    const body: IncompleteBody = { address, startedAt: performance.now(), largeBytes: 0, evict };
    this.#bodies.add(body);
    this.#sweepLater();
    return body;
  }

  remove(body: IncompleteBody): void {
    this.#bodies.delete(body);
    this.#large.delete(body);
    const { share } = body;
    if (!share) return;
    share.bytes -= body.largeBytes;
    share.bodies.delete(body);
    if (share.bodies.size === 0) this.#shares.delete(share.group);
  }

  /** Evicts slow bodies of the address until this one fits; false when it does not. */
  holds(body: IncompleteBody, heldBytes: number): boolean {
    if (heldBytes <= smallBodyBytes) return true;
    const largeBytes = heldBytes - smallBodyBytes;
    const share = (body.share ??= this.#joinShare(body));
    share.bytes += largeBytes - body.largeBytes;
    body.largeBytes = largeBytes;
    while (share.bytes > this.#limits.incompleteBytesPerAddressMax) {
      if (!this.#evictFirst(share.bodies, body)) return false;
    }
    return true;
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
    this.#large.add(body);
    return share;
  }

  #evictFirst(bodies: ReadonlySet<IncompleteBody>, newest?: IncompleteBody): boolean {
    const [first] = bodies;
    if (!first || first === newest) return false;
    if (performance.now() - first.startedAt < this.#limits.slowAfterMs) return false;
    first.evict();
    return true;
  }

  #sweep(): void {
    const startedBefore = performance.now() - this.#limits.deadlineMs;
    for (const body of this.#bodies) {
      if (body.startedAt > startedBefore) break;
      body.evict();
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
