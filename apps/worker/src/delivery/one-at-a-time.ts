/** Work under one key, one after another, in the order it came. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  /** `follows`: other work under this key was under way when this came. */
  async run<T>(key: string, work: (follows: boolean) => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const own = before ? before.then(() => work(true)) : work(false);
    const ended = own.catch(() => {});
    this.#last.set(key, ended);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
