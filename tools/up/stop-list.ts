type Stop = { name: string; stop: () => Promise<unknown> };

/** Started parts, which are stopped once, in the opposite order. */
export class StopList {
  readonly #say: (line: string) => void;
  readonly #stops: Stop[] = [];
  #isStopping = false;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  add(name: string, stop: () => Promise<unknown>): void {
    this.#stops.push({ name, stop });
  }

  /** Prints the reason, stops everything and ends the process. Does nothing after the first call. */
  async stopAll(why: string, exitCode: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#say(`\n${why}`);
    let code = exitCode;
    for (const { name, stop } of this.#stops.toReversed()) {
      this.#say(`  stopping the ${name}`);
      await stop().catch((error: unknown) => {
        this.#say(`The ${name} could not be stopped: ${sentenceOf(error)}`);
        code = 1;
      });
    }
    if (this.#stops.length > 0) this.#say('Everything that was started here is stopped.');
    process.exit(code);
  }
}

/** The error in a sentence; with its stack where it is a bug. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  if (isBug) return error.stack ?? error.message;
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}
