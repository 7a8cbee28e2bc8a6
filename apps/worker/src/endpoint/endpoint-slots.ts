/** How many slots one delivery in flight takes: one, and one more for every 64 KiB of its body. */
export function slotsOf(bytes: number): number {
  return 1 + Math.floor(bytes / 65_536);
}

export type EndpointSlotsOptions = {
  /** What one endpoint may take here. */
  perEndpoint: (endpointId: string) => number;
  /** What all endpoints may take together. */
  total: number;
  /** How long a delivery waits in memory for a slot. */
  waitMs: number;
};

/** `until`: `performance.now()`, ms. */
type Waiter = { slots: number; until: number; resolve: (isTaken: boolean) => void };

type Endpoint = {
  taken: number;
  /** In order of arrival. */
  line: Waiter[];
  expiry?: NodeJS.Timeout | undefined;
  /** A delivery has waited in vain: until half of the endpoint's slots are free, others are refused at once. */
  isCongested: boolean;
};

/** Every endpoint may take this many, however few are left. */
const leastSlots = 4;

/**
 * Bounds what each endpoint has in flight in one lane, so that an endpoint that answers slowly does not fill the lane. An
 * endpoint may take half of the free slots at most, so that many slow ones still leave some. A delivery past that waits for
 * `waitMs`, because most bursts are short, and is then refused.
 */
export class EndpointSlots {
  readonly #options: EndpointSlotsOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  #taken = 0;
  #isStopped = false;

  constructor(options: EndpointSlotsOptions) {
    this.#options = options;
  }

  /** Whether a slot was free within the time; if so, `free` must be called. */
  take(endpointId: string, slots: number): Promise<boolean> {
    const endpoint = this.#endpoints.get(endpointId) ?? { taken: 0, line: [], isCongested: false };
    this.#endpoints.set(endpointId, endpoint);
    if (endpoint.line.length === 0 && this.#hasFreeSlot(endpointId, endpoint)) {
      this.#give(endpoint, slots);
      return Promise.resolve(true);
    }
    if (endpoint.isCongested || this.#isStopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      endpoint.line.push({ slots, until: performance.now() + this.#options.waitMs, resolve });
      endpoint.expiry ??= setTimeout(() => this.#refuseExpired(endpointId, endpoint), this.#options.waitMs);
    });
  }

  free(endpointId: string, slots: number): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    endpoint.taken -= slots;
    this.#taken -= slots;
    if (endpoint.taken <= this.#limitOf(endpointId, endpoint) / 2) endpoint.isCongested = false;
    this.admitWaiting(endpointId);
  }

  /** Admits the head of an endpoint's line while there is a free slot, as when another lane has freed one. */
  admitWaiting(endpointId: string): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    for (
      let next = endpoint.line[0];
      next && this.#hasFreeSlot(endpointId, endpoint);
      next = endpoint.line[0]
    ) {
      endpoint.line.shift();
      this.#give(endpoint, next.slots);
      next.resolve(true);
    }
    this.#forgetIfUnused(endpointId, endpoint);
  }

  /** Refuses all that wait, and all that would have to wait from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const endpoint of this.#endpoints.values()) {
      clearTimeout(endpoint.expiry);
      for (const { resolve } of endpoint.line.splice(0)) resolve(false);
    }
  }

  takenBy(endpointId: string): number {
    return this.#endpoints.get(endpointId)?.taken ?? 0;
  }

  /** How many more deliveries the endpoint can take at once; 0 while others wait. */
  room(endpointId: string): number {
    const endpoint = this.#endpoints.get(endpointId) ?? { taken: 0, line: [], isCongested: false };
    if (endpoint.isCongested || endpoint.line.length > 0) return 0;
    return Math.max(0, Math.floor(this.#limitOf(endpointId, endpoint) - endpoint.taken));
  }

  #limitOf(endpointId: string, endpoint: Endpoint): number {
    const free = this.#options.total - this.#taken + endpoint.taken;
    return Math.min(this.#options.perEndpoint(endpointId), Math.max(leastSlots, free / 2));
  }

  /** One free slot admits a delivery of any size: a large body that waited for all of its slots would wait for ever. */
  #hasFreeSlot(endpointId: string, endpoint: Endpoint): boolean {
    return endpoint.taken < Math.floor(this.#limitOf(endpointId, endpoint));
  }

  #give(endpoint: Endpoint, slots: number): void {
    endpoint.taken += slots;
    this.#taken += slots;
  }

  #refuseExpired(endpointId: string, endpoint: Endpoint): void {
    endpoint.expiry = undefined;
    const now = performance.now();
    for (let first = endpoint.line[0]; first && first.until <= now; first = endpoint.line[0]) {
      endpoint.line.shift();
      endpoint.isCongested = true;
      first.resolve(false);
    }
    const [next] = endpoint.line;
    if (next) {
      endpoint.expiry = setTimeout(() => this.#refuseExpired(endpointId, endpoint), next.until - now);
    } else this.#forgetIfUnused(endpointId, endpoint);
  }

  #forgetIfUnused(endpointId: string, endpoint: Endpoint): void {
    if (endpoint.taken > 0 || endpoint.line.length > 0) return;
    // A later timer would act on an entry that a new one has replaced.
    clearTimeout(endpoint.expiry);
    endpoint.expiry = undefined;
    this.#endpoints.delete(endpointId);
  }
}
