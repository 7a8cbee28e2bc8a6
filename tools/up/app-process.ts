import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const stopWithinMs = 25_000;
const lastLinesMax = 10;
const setpriv = '/usr/bin/setpriv';

export type AppName = 'receiver' | 'worker';

export type AppOptions = {
  /** Where it answers /health/ready. */
  adminPort: number;
  env: Record<string, string>;
  logFile: string;
  onLine: (line: string) => void;
};

/** One of our apps, built, as a process that is ours to end. */
export class AppProcess {
  readonly name: AppName;
  readonly #readyUrl: string;
  readonly #child: ChildProcess;
  readonly #end: Promise<string>;
  readonly #lastLines: string[] = [];

  constructor(name: AppName, options: AppOptions) {
    this.name = name;
    this.#readyUrl = `http://127.0.0.1:${options.adminPort}/health/ready`;
    const command = [process.execPath, '--enable-source-maps', `apps/${name}/dist/main.js`];
    // Where the kernel can do it, an app ends also when we are killed without a chance to end it.
    const endsWithUs = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'TERM', '--'] : [];
    const [program = '', ...args] = [...endsWithUs, ...command];
    // In a process group of its own: Ctrl-C at the terminal reaches us alone, and we end what we started in our order.
    this.#child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#keepLines(options);
    this.#end = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      this.#child.once('close', (code, signal) => {
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
      });
    });
  }

  /** Resolves when the app has ended, with how, and its last words. */
  async ended(): Promise<string> {
    const how = await this.#end;
    return [`The ${this.name} ${how}. The last it said:`, ...this.#lastLines].join('\n  ');
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(2_000);
    const response = await fetch(this.#readyUrl, { signal }).catch(() => undefined);
    return response?.ok ?? false;
  }

  /** In good order, and by force when that takes too long. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), stopWithinMs);
    await this.#end;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #keepLines({ logFile, onLine }: AppOptions): void {
    mkdirSync(dirname(logFile), { recursive: true });
    const file = createWriteStream(logFile, { flags: 'a' });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        file.write(`${line}\n`);
        this.#lastLines.push(line);
        if (this.#lastLines.length > lastLinesMax) this.#lastLines.shift();
        onLine(line);
      });
    }
  }
}
