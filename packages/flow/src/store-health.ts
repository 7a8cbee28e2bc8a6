/** `blocked`: there is a connection, but the store does not serve on it (an alarm of the broker, a Redis that cannot write). */
export type StoreState = 'starting' | 'up' | 'blocked' | 'down';

/** The state of a store as its client last observed it. Reading it does no I/O. */
export interface StoreHealth {
  readonly state: StoreState;
  /** Why it is not up. */
  readonly detail: string | undefined;
  /** When the state began, ms since epoch. */
  readonly since: number;
  readonly isUp: boolean;
}

/** Called when the state changes, with the reason unless it is up. */
export type OnHealthChange = (state: StoreState, detail?: string) => void;

/** A client updates it, others read it as `StoreHealth`. */
export class HealthTracker implements StoreHealth {
  #state: StoreState = 'starting';
  #detail: string | undefined;
  #since = Date.now();
  readonly #onChange: OnHealthChange;

  constructor(onChange: OnHealthChange) {
    this.#onChange = onChange;
  }

  get state(): StoreState {
    return this.#state;
  }

  get detail(): string | undefined {
    return this.#detail;
  }

  get since(): number {
    return this.#since;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** A new detail of the same state replaces the previous one without calling `onChange`. */
  change(state: StoreState, detail?: string): void {
    this.#detail = detail;
    if (this.#state === state) return;
    this.#state = state;
    this.#since = Date.now();
    this.#onChange(state, detail);
  }
}
