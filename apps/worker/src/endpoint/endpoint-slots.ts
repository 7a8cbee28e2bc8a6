import { ExpectedDeliveries } from './expected-deliveries.ts';

export type EndpointSlotsOptions = {
  /** How many deliveries one endpoint may have in flight here. */
  perEndpoint: (endpointId: string) => number;
  /** How many all endpoints may have together. */
  total: number;
  /** How long a delivery waits in memory for a slot. */
  waitMs: number;
};

/** `since`: `performance.now()`, ms. */
type Waiter = { since: number; resolve: (isTaken: boolean) => void };

type Endpoint = {
  taken: number;
  /** In order of arrival. */
  line: Waiter[];
  review?: NodeJS.Timeout | undefined;
  /** Admitted from the line since the last review. */
  admitted: number;
  /** About how many the line admits in `waitMs`. */
  pace: number;
  /** A delivery was refused after its wait: until half of the endpoint's slots are free, others are refused at once. */
  isCongested: boolean;
};

/** Every endpoint may take this many, even when fewer are free. */
const leastSlots = 4;
const reviewsPerWait = 4;
/** A delivery that has waited long enough keeps its place if it is expected to get a slot within this many times `waitMs`. */
const patience = 2;

/**
 * Bounds the deliveries of each endpoint in flight in one lane, so that a slow endpoint does not fill the lane. An endpoint
 * may take half of the free slots at most, so that many slow endpoints still leave some. A further delivery waits for
 * `waitMs`, because most bursts are short. Then it is refused, unless the line moves: a worker that has just started takes
 * thousands of deliveries at once, and an endpoint that answers works through them in seconds.
 */
export class EndpointSlots {
  readonly #options: EndpointSlotsOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #expected = new ExpectedDeliveries();
  #taken = 0;
  #isStopped = false;

  constructor(options: EndpointSlotsOptions) {
    this.#options = options;
  }

  /** Whether the delivery got a slot; if so, `free` must be called. A promise only where it waits. */
  take(endpointId: string): boolean | Promise<boolean> {
    this.#expected.arrived(endpointId);
    const endpoint = this.#endpoints.get(endpointId) ?? unused();
    this.#endpoints.set(endpointId, endpoint);
    if (endpoint.line.length === 0 && this.#hasFreeSlot(endpointId, endpoint)) {
      this.#give(endpoint);
      return true;
    }
    if (endpoint.isCongested || this.#isStopped) return false;
    return new Promise((resolve) => {
      endpoint.line.push({ since: performance.now(), resolve });
      this.#reviewLater(endpointId, endpoint);
    });
  }

  free(endpointId: string): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    endpoint.taken -= 1;
    this.#taken -= 1;
    if (endpoint.isCongested && endpoint.taken <= this.#limitOf(endpointId, endpoint.taken) / 2)
      endpoint.isCongested = false;
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
      endpoint.admitted += 1;
      this.#give(endpoint);
      next.resolve(true);
    }
    this.#forgetIfUnused(endpointId, endpoint);
  }

  /** Refuses the deliveries that wait, and from now on those that would have to wait. */
  stop(): void {
    this.#isStopped = true;
    for (const endpoint of this.#endpoints.values()) {
      clearTimeout(endpoint.review);
      for (const { resolve } of endpoint.line.splice(0)) resolve(false);
    }
  }

  takenBy(endpointId: string): number {
    return this.#endpoints.get(endpointId)?.taken ?? 0;
  }

  /** `count` deliveries of the endpoint are released, and will take slots: until then there is less room for others. */
  expect(endpointId: string, count: number): void {
    this.#expected.expect(endpointId, count);
  }

  /** How many more deliveries the endpoint can take at once, beside those that are expected; 0 while others wait. */
  room(endpointId: string): number {
    const endpoint = this.#endpoints.get(endpointId) ?? unused();
    if (endpoint.isCongested || endpoint.line.length > 0) return 0;
    const taken = endpoint.taken + this.#expected.of(endpointId);
    const takenByAll = this.#taken + this.#expected.total();
    return Math.max(0, Math.floor(this.#limitOf(endpointId, taken, takenByAll) - taken));
  }

  #limitOf(endpointId: string, taken: number, takenByAll = this.#taken): number {
    const free = this.#options.total - takenByAll + taken;
    return Math.min(this.#options.perEndpoint(endpointId), Math.max(leastSlots, free / 2));
  }

  #hasFreeSlot(endpointId: string, { taken }: Endpoint): boolean {
    return taken < Math.floor(this.#limitOf(endpointId, taken));
  }

  #give(endpoint: Endpoint): void {
    endpoint.taken += 1;
    this.#taken += 1;
  }

  #reviewLater(endpointId: string, endpoint: Endpoint): void {
    const review = () => this.#review(endpointId, endpoint);
    endpoint.review ??= setTimeout(review, this.#options.waitMs / reviewsPerWait);
  }

  /** Refuses the deliveries that have waited long enough and stand too far back in the line for its pace. */
  #review(endpointId: string, endpoint: Endpoint): void {
    endpoint.review = undefined;
    endpoint.pace += endpoint.admitted - endpoint.pace / reviewsPerWait;
    endpoint.admitted = 0;
    const waitedSince = performance.now() - this.#options.waitMs;
    const arrivedLater = endpoint.line.findIndex(({ since }) => since > waitedSince);
    const waitedLong = arrivedLater === -1 ? endpoint.line.length : arrivedLater;
    const kept = Math.min(waitedLong, Math.floor(endpoint.pace * patience));
    for (const { resolve } of endpoint.line.splice(kept, waitedLong - kept)) {
      endpoint.isCongested = true;
      resolve(false);
    }
    if (endpoint.line.length > 0) this.#reviewLater(endpointId, endpoint);
    else this.#forgetIfUnused(endpointId, endpoint);
  }

  #forgetIfUnused(endpointId: string, endpoint: Endpoint): void {
    if (endpoint.taken > 0 || endpoint.line.length > 0) return;
    // A later timer would act on an entry that a new one has replaced.
    clearTimeout(endpoint.review);
    endpoint.review = undefined;
    this.#endpoints.delete(endpointId);
  }
}

function unused(): Endpoint {
  return { taken: 0, line: [], admitted: 0, pace: 0, isCongested: false };
}
