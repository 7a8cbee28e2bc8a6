/** What one delivery in flight takes of its endpoint's share and of all: a slot, and one more for every 64 KiB. */
export function slotsOf(bytes: number): number {
  return 1 + Math.floor(bytes / 65_536);
}

export type EndpointSlotsOptions = {
  /** What one endpoint may have in flight at this worker. */
  perEndpoint: () => number;
  /** What all of them may have together. */
  total: number;
  /** How long a delivery waits in memory for a slot. */
  waitMs: number;
};

/** `until`: `performance.now()`, ms. */
type Waiting = { slots: number; until: number; resolve: (isTaken: boolean) => void };

type Endpoint = {
  taken: number;
  waiting: Waiting[];
  giveUp?: NodeJS.Timeout | undefined;
  /** Somebody has waited in vain: until half of its slots are free again nobody waits. */
  isCongested: boolean;
};

/** Every endpoint may have so much, however little there is left. */
const leastSlots = 4;

/**
 * Bounds what each endpoint has in flight, so that one that answers slowly does not take the others' place. An endpoint may
 * have half of what is free at most, so that even many slow ones leave something; what is over that waits a moment, as a burst
 * is over soon, and is then refused.
 */
export class EndpointSlots {
  readonly #options: EndpointSlotsOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  #taken = 0;
  #isStopped = false;

  constructor(options: EndpointSlotsOptions) {
    this.#options = options;
  }

  /** Whether there was room within the time; if so, `free` must be called. */
  take(endpointId: string, slots: number): Promise<boolean> {
    const endpoint = this.#endpoints.get(endpointId) ?? { taken: 0, waiting: [], isCongested: false };
    this.#endpoints.set(endpointId, endpoint);
    if (endpoint.waiting.length === 0 && this.#hasFreeSlot(endpoint)) {
      this.#give(endpoint, slots);
      return Promise.resolve(true);
    }
    if (endpoint.isCongested || this.#isStopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      endpoint.waiting.push({ slots, until: performance.now() + this.#options.waitMs, resolve });
      endpoint.giveUp ??= setTimeout(() => this.#giveUp(endpointId, endpoint), this.#options.waitMs);
    });
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#isStopped = true;
    for (const endpoint of this.#endpoints.values()) {
      clearTimeout(endpoint.giveUp);
      for (const { resolve } of endpoint.waiting.splice(0)) resolve(false);
    }
  }

  free(endpointId: string, slots: number): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    endpoint.taken -= slots;
    this.#taken -= slots;
    if (endpoint.taken <= this.#limitOf(endpoint) / 2) endpoint.isCongested = false;
    for (let next = endpoint.waiting[0]; next && this.#hasFreeSlot(endpoint); next = endpoint.waiting[0]) {
      endpoint.waiting.shift();
      this.#give(endpoint, next.slots);
      next.resolve(true);
    }
    this.#forget(endpointId, endpoint);
  }

  /** How many more the endpoint may have now; 0 while somebody waits. */
  room(endpointId: string): number {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return this.#options.perEndpoint();
    if (endpoint.isCongested || endpoint.waiting.length > 0) return 0;
    return Math.max(0, Math.floor(this.#limitOf(endpoint) - endpoint.taken));
  }

  #limitOf(endpoint: Endpoint): number {
    const free = this.#options.total - this.#taken + endpoint.taken;
    return Math.min(this.#options.perEndpoint(), Math.max(leastSlots, free / 2));
  }

  /** One free slot admits a delivery of any size: a large body that waited for all of its slots would wait for ever. */
  #hasFreeSlot(endpoint: Endpoint): boolean {
    return endpoint.taken < Math.floor(this.#limitOf(endpoint));
  }

  #give(endpoint: Endpoint, slots: number): void {
    endpoint.taken += slots;
    this.#taken += slots;
  }

  /** Refuses those whose time is over, who stand first. */
  #giveUp(endpointId: string, endpoint: Endpoint): void {
    endpoint.giveUp = undefined;
    const now = performance.now();
    for (let first = endpoint.waiting[0]; first && first.until <= now; first = endpoint.waiting[0]) {
      endpoint.waiting.shift();
      endpoint.isCongested = true;
      first.resolve(false);
    }
    const [next] = endpoint.waiting;
    if (next) endpoint.giveUp = setTimeout(() => this.#giveUp(endpointId, endpoint), next.until - now);
    else this.#forget(endpointId, endpoint);
  }

  #forget(endpointId: string, endpoint: Endpoint): void {
    if (endpoint.taken > 0 || endpoint.waiting.length > 0) return;
    // Else it would come later, when the endpoint may be known by another entry.
    clearTimeout(endpoint.giveUp);
    endpoint.giveUp = undefined;
    this.#endpoints.delete(endpointId);
  }
}
