import { EndpointBreakers, type EndpointBreakersOptions } from './endpoint-breakers.ts';
import { EndpointSlots } from './endpoint-slots.ts';

/** What an attempt says about its endpoint. */
export type HealthSignal = 'works' | 'fails' | 'none';

/** Permission to post one delivery. `leave` returns it, with what the attempt showed; later calls are ignored. */
export type Pass = { leave: (signal: HealthSignal) => void };

/** `shut`: the delivery is to be held. `stopped`: this worker stops. */
export type Entered = Pass | 'shut' | 'stopped';

/** Where the deliveries of one lane enter: each lane has its own share of every endpoint, and its own bound over all. */
export type Entrance = {
  /** Waits for a free slot for a second at most, and for Postgres where the breaker is open; otherwise it answers at once. */
  enter: (endpointId: string, timeoutMs: number) => Entered | Promise<Entered>;
};

/** How many held deliveries of an endpoint may be released: none, one that probes it, or so many into a lane. */
export type Room =
  { kind: 'none' } | { kind: 'probe' } | { kind: 'room'; deliveriesInto: (lane: string) => number };

export type EndpointGateOptions = EndpointBreakersOptions & {
  /** How many workers share an endpoint's cap. */
  workers: () => number;
  /** For each lane, what all endpoints together may have in flight in it. */
  slots: Readonly<Record<string, number>>;
};

/** Deliveries of one endpoint in flight, in all lanes of all workers together. */
export const inFlightPerEndpointMax = 256;
const waitMs = 1_000;
/** How long a probe may be overdue before its worker counts as crashed. */
const probeSlackMs = 2_000;

/** A cap on the deliveries in flight at each endpoint, and a breaker. A refused delivery is held and uses up no attempt. */
export class EndpointGate {
  readonly breakers: EndpointBreakers;
  readonly #now: () => number;
  readonly #workers: () => number;
  readonly #lanes: ReadonlyMap<string, EndpointSlots>;
  /** Those of all lanes. */
  readonly #all: readonly EndpointSlots[];
  #isStopped = false;

  constructor({ workers, slots, ...breakers }: EndpointGateOptions) {
    this.breakers = new EndpointBreakers(breakers);
    this.#now = breakers.now;
    this.#workers = workers;
    this.#lanes = new Map(Object.entries(slots).map(([lane, total]) => [lane, this.#createSlots(total)]));
    this.#all = [...this.#lanes.values()];
  }

  /** Whether the endpoint's breaker lets nothing through now. */
  isShut(endpointId: string): boolean {
    return this.breakers.stateOf(endpointId) === 'open';
  }

  entrance(lane: string): Entrance {
    const slots = this.#slotsIn(lane);
    return {
      enter: (endpointId, timeoutMs) => this.#enter(slots, endpointId, timeoutMs),
    };
  }

  /** Refuses the deliveries that wait for a slot: the worker stops. */
  stop(): void {
    this.#isStopped = true;
    for (const slots of this.#all) slots.stop();
  }

  room(endpointId: string): Room {
    const state = this.breakers.stateOf(endpointId);
    if (state === 'open') return { kind: 'none' };
    if (state === 'may_probe') return { kind: 'probe' };
    const deliveriesInto = (lane: string) => this.#slotsIn(lane).room(endpointId) * this.#workers();
    return { kind: 'room', deliveriesInto };
  }

  /** A delivery of the endpoint is about to be released into a lane, where one of the workers will take it. */
  expect(endpointId: string, lane: string): void {
    this.#slotsIn(lane).expect(endpointId, 1 / this.#workers());
  }

  #enter(slots: EndpointSlots, endpointId: string, timeoutMs: number): Entered | Promise<Entered> {
    const taken = slots.take(endpointId);
    if (typeof taken === 'boolean') return this.#afterLine(taken, slots, endpointId, timeoutMs);
    return taken.then((isTaken) => this.#afterLine(isTaken, slots, endpointId, timeoutMs));
  }

  #afterLine(
    isTaken: boolean,
    slots: EndpointSlots,
    endpointId: string,
    timeoutMs: number,
  ): Entered | Promise<Entered> {
    if (!isTaken) return this.#isStopped ? 'stopped' : 'shut';
    if (this.breakers.stateOf(endpointId) !== 'closed')
      return this.#enterAsProbe(slots, endpointId, timeoutMs);
    return this.#passFor(slots, endpointId, { probed: false });
  }

  async #enterAsProbe(slots: EndpointSlots, endpointId: string, timeoutMs: number): Promise<Entered> {
    let isAdmitted = false;
    try {
      isAdmitted = await this.#mayProbe(endpointId, timeoutMs);
    } finally {
      if (!isAdmitted) this.#free(slots, endpointId);
    }
    return isAdmitted ? this.#passFor(slots, endpointId, { probed: true }) : 'shut';
  }

  async #mayProbe(endpointId: string, timeoutMs: number): Promise<boolean> {
    const leaseMs = timeoutMs + probeSlackMs;
    return this.breakers.stateOf(endpointId) === 'may_probe' && this.breakers.claimProbe(endpointId, leaseMs);
  }

  #passFor(slots: EndpointSlots, endpointId: string, { probed }: { probed: boolean }): Pass {
    const startedAt = this.#now();
    let isLeft = false;
    return {
      leave: (signal) => {
        if (isLeft) return;
        isLeft = true;
        this.#free(slots, endpointId);
        if (signal === 'works') this.breakers.succeeded(endpointId);
        if (signal === 'fails') this.breakers.failed(endpointId, { startedAt, probed });
      },
    };
  }

  /** The endpoint's cap at this worker without the slots that the other lanes have taken; each lane always keeps a thirty-second. */
  #capOf(endpointId: string, own: EndpointSlots): number {
    const cap = Math.max(1, Math.floor(inFlightPerEndpointMax / this.#workers()));
    const reserved = Math.min(Math.ceil(cap / 32), Math.floor(cap / this.#all.length));
    let left = cap;
    for (const slots of this.#all) if (slots !== own) left -= Math.max(slots.takenBy(endpointId), reserved);
    return left;
  }

  #createSlots(total: number): EndpointSlots {
    const slots: EndpointSlots = new EndpointSlots({
      perEndpoint: (endpointId) => this.#capOf(endpointId, slots),
      total,
      waitMs,
    });
    return slots;
  }

  #free(slots: EndpointSlots, endpointId: string): void {
    slots.free(endpointId);
    for (const other of this.#all) if (other !== slots) other.admitWaiting(endpointId);
  }

  #slotsIn(lane: string): EndpointSlots {
    const slots = this.#lanes.get(lane);
    if (!slots) throw new RangeError(`there is no lane ${lane}`);
    return slots;
  }
}
