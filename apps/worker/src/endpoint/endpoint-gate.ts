import { EndpointBreakers, type EndpointBreakersOptions } from './endpoint-breakers.ts';
import { EndpointSlots, slotsOf } from './endpoint-slots.ts';

/** What an attempt told of its endpoint: that it works, that it does not, or nothing. */
export type HealthSignal = 'works' | 'fails' | 'none';

/** Somebody's leave to post one delivery. To be given back with what came of it. */
export type Pass = { leave: (signal: HealthSignal) => void };

export type EndpointGateOptions = Omit<EndpointBreakersOptions, 'now'> & {
  now: () => number;
  /** How many workers share an endpoint's cap. */
  workers: () => number;
  /** What all endpoints together may have in flight here. */
  slotsTotal: number;
};

/** What one endpoint may have in flight, at all workers together. */
export const inFlightPerEndpointMax = 256;
const waitMs = 1_000;
/** A probe whose worker dies is over when its attempt would have been, and a little. */
const probeSlackMs = 2_000;

/**
 * Stands before each endpoint: a cap on what is in flight there, and a breaker. Who does not get through is held, without
 * using up an attempt.
 */
export class EndpointGate {
  readonly breakers: EndpointBreakers;
  readonly #slots: EndpointSlots;
  readonly #now: () => number;
  readonly #workers: () => number;
  #isStopped = false;

  constructor({ workers, slotsTotal, ...breakers }: EndpointGateOptions) {
    this.breakers = new EndpointBreakers(breakers);
    this.#now = breakers.now;
    this.#workers = workers;
    this.#slots = new EndpointSlots({
      perEndpoint: () => Math.max(1, Math.floor(inFlightPerEndpointMax / workers())),
      total: slotsTotal,
      waitMs,
    });
  }

  /** Whether nobody gets through just now. */
  isShut(endpointId: string): boolean {
    return this.breakers.verdict(endpointId) === 'open';
  }

  /** The worker stops: whoever waits is to give its message back. */
  stop(): void {
    this.#isStopped = true;
    this.#slots.stop();
  }

  /** `shut`: the delivery is to be held. Waits a second at most, and for the breaker's word where it is open. */
  async enter(
    endpointId: string,
    { bytes, timeoutMs }: { bytes: number; timeoutMs: number },
  ): Promise<Pass | 'shut' | 'stopped'> {
    const slots = slotsOf(bytes);
    if (!(await this.#slots.take(endpointId, slots))) return this.#isStopped ? 'stopped' : 'shut';
    const probed = this.breakers.verdict(endpointId) !== 'closed';
    let isShut = probed;
    try {
      if (probed) isShut = !(await this.#mayProbe(endpointId, timeoutMs));
    } catch (error) {
      this.#slots.free(endpointId, slots);
      throw error;
    }
    if (isShut) {
      this.#slots.free(endpointId, slots);
      return 'shut';
    }
    const startedAt = this.#now();
    return {
      leave: (signal) => {
        this.#slots.free(endpointId, slots);
        if (signal === 'works') this.breakers.succeeded(endpointId);
        if (signal === 'fails') this.breakers.failed(endpointId, { startedAt, probed });
      },
    };
  }

  /** How many held deliveries of an endpoint may be let go now: none, one that tries it, or what there is room for. */
  room(endpointId: string): { kind: 'none' } | { kind: 'probe' } | { kind: 'room'; deliveries: number } {
    const verdict = this.breakers.verdict(endpointId);
    if (verdict === 'open') return { kind: 'none' };
    if (verdict === 'may_probe') return { kind: 'probe' };
    return { kind: 'room', deliveries: this.#slots.room(endpointId) * this.#workers() };
  }

  async #mayProbe(endpointId: string, timeoutMs: number): Promise<boolean> {
    const leaseMs = timeoutMs + probeSlackMs;
    return this.breakers.verdict(endpointId) === 'may_probe' && this.breakers.claimProbe(endpointId, leaseMs);
  }
}
