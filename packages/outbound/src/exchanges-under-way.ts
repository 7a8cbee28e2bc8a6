import type { HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import type { Dispatcher } from 'undici';
import { Exchange } from './exchange.ts';

/** The exchanges of one sender that are not over, to abort them and to wait for their end. */
export class ExchangesUnderWay {
  readonly #exchanges = new Set<Exchange>();
  #isAborted = false;
  #onIdle = () => {};

  /** Runs an exchange to its result. After `abort` it ends at once. */
  run(
    request: Dispatcher.DispatchOptions,
    timeoutMs: number,
    acquire: Parameters<Exchange['start']>[0],
  ): Promise<HttpExchange> {
    return new Promise((resolve) => {
      const exchange = new Exchange(request, timeoutMs, (result) => {
        this.#exchanges.delete(exchange);
        if (this.#exchanges.size === 0) this.#onIdle();
        resolve(result);
      });
      this.#exchanges.add(exchange);
      if (this.#isAborted) abortExchange(exchange);
      else exchange.start(acquire);
    });
  }

  /** Ends the exchanges under way and all later ones. */
  abort(): void {
    this.#isAborted = true;
    for (const exchange of this.#exchanges) abortExchange(exchange);
  }

  /** Resolves when no exchange is under way. */
  async idle(): Promise<void> {
    if (this.#exchanges.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}

function abortExchange(exchange: Exchange): void {
  exchange.fail('ABORTED', 'aborted by the relay');
}
