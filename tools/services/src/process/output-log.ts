import type { ChildProcess } from 'node:child_process';
import { closeSync, createWriteStream, openSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';

export type OutputTo = {
  /** Where the output is appended. */
  logFile?: string;
  /** Called with each line, as it comes. */
  onLine?: (line: string) => void;
};

const firstLinesMax = 15;
const lastLinesMax = 10;

/** A server's output. The server writes its log file directly, unless `onLine` is set: then this process reads the lines. */
export class OutputLog {
  /** The entry of `stdio` for stdout and stderr. */
  readonly target: number | 'pipe';
  readonly #to: OutputTo;
  readonly #fileStart: number;
  readonly #first: string[] = [];
  #last: string[] = [];

  constructor(to: OutputTo) {
    this.#to = to;
    const { logFile, onLine } = to;
    this.#fileStart = (logFile !== undefined && statSync(logFile, { throwIfNoEntry: false })?.size) || 0;
    this.target = logFile !== undefined && !onLine ? openSync(logFile, 'a') : 'pipe';
  }

  follow(child: ChildProcess): void {
    if (this.target !== 'pipe') return closeSync(this.target);
    const { logFile, onLine } = this.#to;
    const file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        file?.write(`${line}\n`);
        if (this.#first.length < firstLinesMax) this.#first.push(line);
        else this.#last = [...this.#last, line].slice(-lastLinesMax);
        onLine?.(line);
      });
    }
    child.once('close', () => file?.end());
  }

  lastLines(): string[] {
    return this.#lines().slice(-lastLinesMax);
  }

  /** The first lines and the last: a broker logs the cause first, and then many consequences. */
  excerpt(): string {
    const lines = this.#lines();
    const shown =
      lines.length <= firstLinesMax + lastLinesMax
        ? lines
        : [...lines.slice(0, firstLinesMax), '…', ...lines.slice(-lastLinesMax)];
    return [...shown, ...(this.#to.logFile === undefined ? [] : [`(${this.#to.logFile})`])].join('\n');
  }

  #lines(): string[] {
    if (this.target === 'pipe') return [...this.#first, ...this.#last];
    const written = readFileSync(this.#to.logFile as string).subarray(this.#fileStart);
    return written.toString().trimEnd().split('\n');
  }
}
