import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { OutputLog, type OutputTo } from './output-log.ts';
import { childrenInOtherGroups, isAlive, isStopped } from './processes.ts';
import { setprivPrefix } from './setpriv.ts';

export type ServerCommand = OutputTo & {
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment; inherited when absent. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** The signal that asks the server to shut down. */
  stopSignal: NodeJS.Signals;
  /** Sent by the kernel when this process dies; the stop signal when absent. */
  parentDeathSignal?: NodeJS.Signals;
  /** After how long a stop becomes a kill, ms; 20 s when absent. */
  stopWithinMs?: number;
  /** The file in which the server writes its process id, where a script starts it that is slow to pass a signal on. */
  pidFile?: string;
  /** Run as this user of the system instead of root. */
  user?: string | undefined;
};

const stopWithinMs = 20_000;

const running = new Set<ServerProcess>();

/** Sends SIGKILL to every server that this process started, without waiting. Call it just before this process exits. */
export function killEveryServer(): void {
  for (const server of running) server.signalGroup('SIGKILL');
}

/**
 * A child process in a process group of its own, so that Ctrl-C at the terminal reaches this process alone, which then ends the
 * child and its children. Where the system has setpriv, the kernel signals the child when this process dies.
 */
export class ServerProcess {
  readonly #command: ServerCommand;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #log: OutputLog;

  constructor(command: ServerCommand) {
    this.#command = command;
    // The process id of an earlier run may belong to another process by now.
    if (command.pidFile !== undefined) rmSync(command.pidFile, { force: true });
    this.#log = new OutputLog(command);
    const prefix = setprivPrefix(command.parentDeathSignal ?? command.stopSignal, command.user);
    const [program = '', ...args] = [...prefix, command.command, ...command.args];
    this.#child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', this.#log.target, this.#log.target],
      env: { ...(command.env ?? process.env) },
      ...(command.cwd && { cwd: command.cwd }),
    });
    this.#log.follow(this.#child);
    running.add(this);
    this.#exited = new Promise<number | null>((resolve) => {
      this.#child.once('close', resolve);
      this.#child.once('error', () => resolve(null));
    }).finally(() => running.delete(this));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#command.name} could not be started`);
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with the exit code when the server has ended; null after a signal. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** The last lines of output since the start. */
  get lastLines(): string[] {
    return this.#log.lastLines();
  }

  /** Resolves when `check` is true. When the server ends or takes too long, kills it and throws with its log. */
  async waitUntil(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const { name } = this.#command;
    const deadline = Date.now() + timeoutMs;
    // A check may reject until the server listens.
    while (!(await check().catch(() => false))) {
      if (!this.isRunning) {
        await this.#exited;
        throw new Error(`${name} ended while starting.\n${this.#log.excerpt()}`);
      }
      if (Date.now() > deadline) {
        await this.kill();
        throw new Error(`${name} was not ready within ${timeoutMs} ms.\n${this.#log.excerpt()}`);
      }
      await wait(50);
    }
  }

  /** Sends the stop signal, and SIGKILL when the server takes too long. Returns the exit code; null after a signal. */
  async stop(): Promise<number | null> {
    if (this.isRunning) process.kill(this.#serverPid(), this.#command.stopSignal);
    const timer = setTimeout(() => this.signalGroup('SIGKILL'), this.#command.stopWithinMs ?? stopWithinMs);
    const code = await this.#exited;
    clearTimeout(timer);
    return code;
  }

  /** Ends the server by SIGKILL, like a crash. Resolves when all its processes have ended. */
  async kill(): Promise<void> {
    const others = this.signalGroup('SIGKILL');
    await this.#exited;
    // They share the server's memory, and the server does not start again while one of them lives.
    const giveUpAt = performance.now() + stopWithinMs;
    while (others.some(isAlive) && performance.now() < giveUpAt) await wait(10);
  }

  /** Signals the server and its children. Returns the children in process groups of their own, such as Postgres's. */
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

  /** Sends SIGSTOP to the server. Returns when all its threads are stopped, which takes a moment on a busy machine. */
  freeze(): void {
    const all = [this.#serverPid(), ...this.signalGroup('SIGSTOP')];
    const giveUpAt = performance.now() + 1_000;
    while (!all.every(isStopped) && performance.now() < giveUpAt) {
      // Busy waiting, so that a caller gets no answer after this call.
    }
  }

  #serverPid(): number {
    const { pidFile } = this.#command;
    const written =
      pidFile !== undefined && existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : Number.NaN;
    return Number.isInteger(written) && written > 1 ? written : this.pid;
  }
}
