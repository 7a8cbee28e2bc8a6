import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export type ServerCommand = {
  name: string;
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Where the server's output goes. */
  logFile: string;
  /** Asks it to end in good order. */
  stopSignal: NodeJS.Signals;
  /** Where the server notes its own process id, when it was started by a script that takes its time over a signal. */
  pidFile?: string;
  /** Run as this user of the system instead of root. */
  user?: string | undefined;
};

const stopWithinMs = 20_000;

/**
 * A server that is ours: in a process group of its own, so that Ctrl-C at the terminal reaches us alone and we end it by
 * its own id, with what it started; and told by the kernel to stop when we are killed.
 */
export class ServerProcess {
  readonly #command: ServerCommand;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor(command: ServerCommand) {
    this.#command = command;
    const log = openSync(command.logFile, 'a');
    const asUser = command.user ? ['--reuid', command.user, '--regid', command.user, '--init-groups'] : [];
    this.#child = spawn(
      'setpriv',
      ['--pdeathsig', command.stopSignal, ...asUser, '--', command.command, ...command.args],
      {
        detached: true,
        stdio: ['ignore', log, log],
        env: { ...process.env, ...command.env },
        ...(command.cwd && { cwd: command.cwd }),
      },
    );
    closeSync(log);
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#command.name} could not be started`);
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when `check` is true. Throws with the end of the server's log when it ends or takes too long. */
  async waitUntil(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!(await check().catch(() => false))) {
      if (!this.isRunning)
        throw new Error(`${this.#command.name} ended while starting.\n${await this.#logTail()}`);
      if (Date.now() > deadline) {
        throw new Error(
          `${this.#command.name} was not ready within ${timeoutMs} ms.\n${await this.#logTail()}`,
        );
      }
      await wait(50);
    }
  }

  /** In good order, and by force when that takes too long. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    process.kill(this.#serverPid(), this.#command.stopSignal);
    const timer = setTimeout(() => this.signalGroup('SIGKILL'), stopWithinMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** As a crash of the machine would: nothing is flushed, nobody is told. */
  async kill(): Promise<void> {
    this.signalGroup('SIGKILL');
    await this.#exited;
  }

  /** To the server and all that it started. */
  signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  #serverPid(): number {
    const { pidFile } = this.#command;
    const noted =
      pidFile !== undefined && existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : Number.NaN;
    return Number.isInteger(noted) && noted > 1 ? noted : this.pid;
  }

  async #logTail(): Promise<string> {
    const log = await readFile(this.#command.logFile, 'utf8').catch(() => '');
    return log.trimEnd().split('\n').slice(-15).join('\n');
  }
}
