import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { childrenInOtherGroups, isAlive, isStopped } from './processes.ts';

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

const running = new Set<ServerProcess>();

/** SIGKILL to every server that this process started, without waiting: for the moment before it ends itself. */
export function killEveryServer(): void {
  for (const server of running) server.signalGroup('SIGKILL');
}

/**
 * A server that is ours: in a process group of its own, so that Ctrl-C at the terminal reaches us alone and we end it by
 * its own id, with what it started; and told by the kernel to stop when we are killed.
 */
export class ServerProcess {
  readonly #command: ServerCommand;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #logStart: number;

  constructor(command: ServerCommand) {
    this.#command = command;
    // What an earlier run noted may be anybody's process by now.
    if (command.pidFile !== undefined) rmSync(command.pidFile, { force: true });
    const log = openSync(command.logFile, 'a');
    this.#logStart = fstatSync(log).size;
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
    running.add(this);
    this.#exited = new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    }).finally(() => running.delete(this));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#command.name} could not be started`);
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when `check` is true. When the server ends or takes too long, nothing of it stays and this throws with its log. */
  async waitUntil(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!(await check().catch(() => false))) {
      if (!this.isRunning)
        throw new Error(`${this.#command.name} ended while starting.\n${await this.#log()}`);
      if (Date.now() > deadline) {
        await this.kill();
        throw new Error(`${this.#command.name} was not ready within ${timeoutMs} ms.\n${await this.#log()}`);
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

  /** As a crash of the machine would: nothing is flushed, nobody is told. Resolves when all of it is gone. */
  async kill(): Promise<void> {
    const others = this.signalGroup('SIGKILL');
    await this.#exited;
    // Its memory is shared with them, and it would not start again while one is left.
    const giveUpAt = performance.now() + stopWithinMs;
    while (others.some(isAlive) && performance.now() < giveUpAt) await wait(10);
  }

  /** To the server and all that it started. Returns those that are in process groups of their own, as Postgres's are. */
  signalGroup(signal: NodeJS.Signals): number[] {
    if (this.#child.pid === undefined) return [];
    const others = childrenInOtherGroups(this.#child.pid);
    for (const target of [-this.#child.pid, ...others]) {
      try {
        process.kill(target, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    return others;
  }

  /** Holds all of it still. Returns when every thread of the server stands, which takes a moment on a busy machine. */
  freeze(): void {
    const all = [this.#serverPid(), ...this.signalGroup('SIGSTOP')];
    const giveUpAt = performance.now() + 1_000;
    while (!all.every(isStopped) && performance.now() < giveUpAt) {
      // Nothing of ours may run meanwhile: it would still be answered.
    }
  }

  #serverPid(): number {
    const { pidFile } = this.#command;
    const noted =
      pidFile !== undefined && existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : Number.NaN;
    return Number.isInteger(noted) && noted > 1 ? noted : this.pid;
  }

  /** What it has written since it was started. A broker tells the cause first and its consequences at length. */
  async #log(): Promise<string> {
    const { logFile } = this.#command;
    const written = await readFile(logFile).catch(() => Buffer.alloc(0));
    const lines = written.subarray(this.#logStart).toString().trimEnd().split('\n');
    const shown = lines.length <= 25 ? lines : [...lines.slice(0, 15), '…', ...lines.slice(-10)];
    return [...shown, `(${logFile})`].join('\n');
  }
}
