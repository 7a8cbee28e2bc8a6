import { prettyFactory } from 'pino-pretty';

const needsAttention = new Set(['warn', 'error', 'fatal']);

/** The apps' log lines in readable form. Until `showAll`, only those that need attention, so that the demo stays readable. */
export class LogDisplay {
  readonly #out: NodeJS.WriteStream;
  readonly #pretty: (line: string) => string;
  #showsAll = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#pretty = prettyFactory({
      colorize: out.isTTY,
      ignore: 'pid,hostname',
      singleLine: true,
      translateTime: 'SYS:HH:MM:ss.l',
    });
  }

  showAll(): void {
    this.#showsAll = true;
  }

  /** A line that is not JSON is shown as it is. */
  show(line: string): void {
    const level = /^\{"level":"(\w+)"/.exec(line)?.[1];
    if (level === undefined) this.#out.write(`${line}\n`);
    else if (this.#showsAll || needsAttention.has(level)) this.#out.write(this.#pretty(line));
  }
}
