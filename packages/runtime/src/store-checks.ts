import type { DependencyName, StoreWarning } from './http/health.ts';
import type { Logger } from './logger.ts';

export type StoreCheck = {
  dependency: DependencyName;
  /** Resolves with a sentence when the store is misconfigured. Rejects while the store does not answer. */
  run: () => Promise<string | undefined>;
  /** Whether the process refuses to start with a store that is misconfigured in this way. */
  isFatal?: boolean;
};

export type StoreChecksOptions = {
  checks: readonly StoreCheck[];
  logger: Logger;
  /** Called when the first answer to a fatal check is a warning. */
  refuse: (reason: string) => void;
  /** ms between checks of a store. */
  everyMs?: number;
  /** ms until a store that did not answer is asked again. */
  retryMs?: number;
};

/** Checks the set-up of each store as soon as it answers, and then every minute. A warning is logged once and shown in readiness. */
export class StoreChecks {
  readonly #options: StoreChecksOptions;
  readonly #warnings = new Map<StoreCheck, StoreWarning>();
  readonly #answered = new Set<StoreCheck>();
  readonly #timers = new Map<StoreCheck, NodeJS.Timeout>();
  #isStopped = false;

  constructor(options: StoreChecksOptions) {
    this.#options = options;
  }

  start(): void {
    for (const check of this.#options.checks) void this.#run(check);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  get warnings(): StoreWarning[] {
    return [...this.#warnings.values()];
  }

  async #run(check: StoreCheck): Promise<void> {
    const { everyMs = 60_000, retryMs = 2_000 } = this.#options;
    let nextMs = everyMs;
    try {
      const warning = await check.run();
      if (!this.#isStopped) this.#record(check, warning);
    } catch {
      // The store does not answer; its client reports that.
      nextMs = retryMs;
    }
    if (this.#isStopped) return;
    const timer = setTimeout(() => void this.#run(check), nextMs);
    timer.unref();
    this.#timers.set(check, timer);
  }

  #record(check: StoreCheck, warning: string | undefined): void {
    const { dependency, isFatal = false } = check;
    const isFirst = !this.#answered.has(check);
    this.#answered.add(check);
    const hadWarning = this.#warnings.has(check);
    if (warning === undefined) {
      this.#warnings.delete(check);
      if (hadWarning) this.#options.logger.info({ dependency }, 'dependency.set_up_well');
      return;
    }
    this.#warnings.set(check, { dependency, warning });
    if (!hadWarning) this.#options.logger.error({ dependency, warning }, 'dependency.badly_set_up');
    if (isFatal && isFirst) this.#options.refuse(warning);
  }
}

/** Logs the reason and ends the process. */
export function refuseToStart(logger: Logger, app: string): (reason: string) => void {
  return (reason) => {
    logger.fatal({ reason }, `${app}.not_started`);
    process.stderr.write(`${app}: ${reason}\n`);
    process.exit(1);
  };
}
