import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './free-port.ts';
import type { OutputTo } from './process/output-log.ts';
import { ServerProcess } from './process/server-process.ts';

export type AppName = 'receiver' | 'worker' | 'console';

/** Where an app is started from: its source, or a folder with built apps, such as the repository's root. */
export type AppSource = { kind: 'source' } | { kind: 'built'; folder: string };

export type AppOptions = OutputTo & {
  app: AppName;
  from: AppSource;
  /** Added to PATH, the log level and the port. No other variable of this process is inherited. */
  env: Readonly<Record<string, string | undefined>>;
  /** Shown in messages, such as `receiver 1`; the app's name when absent. */
  name?: string;
  /** Any free port when absent. */
  port?: number;
  /** Where `/health/ready` answers, if not at `port`. */
  adminPort?: number | undefined;
  /** Modules that Node loads before the app. */
  preload?: readonly string[];
  /** The signal that the kernel sends to the app when this process dies. */
  parentDeathSignal?: NodeJS.Signals;
};

export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** Longer than the drain deadline of either app. */
const stopWithinMs = 60_000;

/** An app as a process of its own, on a free port. It is not started yet. Throws when it is not built. */
export async function createApp(options: AppOptions): Promise<AppProcess> {
  const [freePort = 0] = await freePorts(1);
  return new AppProcess({ ...options, port: options.port ?? freePort });
}

/** An app as a process of its own, which may end and start again on the same port. */
export class AppProcess {
  readonly app: AppName;
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly #options: AppOptions;
  readonly #args: readonly string[];
  #server: ServerProcess | undefined;

  constructor(options: AppOptions & { port: number }) {
    this.#options = options;
    this.app = options.app;
    this.name = options.name ?? options.app;
    this.port = options.port;
    this.url = `http://127.0.0.1:${options.port}`;
    this.#args = nodeArguments(options);
  }

  /** Returns when the process exists, not when it is ready. */
  start(): void {
    const { app, env, logFile, onLine, parentDeathSignal } = this.#options;
    this.#server = new ServerProcess({
      name: this.name,
      command: process.execPath,
      args: this.#args,
      cwd: repositoryRoot,
      stopSignal: 'SIGTERM',
      stopWithinMs,
      ...(parentDeathSignal && { parentDeathSignal }),
      ...(logFile !== undefined && { logFile }),
      ...(onLine && { onLine }),
      env: {
        PATH: process.env['PATH'],
        LOG_LEVEL: 'info',
        [`${app.toUpperCase()}_PORT`]: String(this.port),
        ...env,
      },
    });
  }

  pid(): number {
    return this.#started().pid;
  }

  isRunning(): boolean {
    return this.#server?.isRunning ?? false;
  }

  /** Throws with the last lines of its log when the app ends or is not ready in time. */
  async waitUntilReady(timeoutMs = 300_000): Promise<void> {
    const url = `http://127.0.0.1:${this.#options.adminPort ?? this.port}/health/ready`;
    const isReady = async () => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
    await this.#started().waitUntil(isReady, timeoutMs);
  }

  /** Sends the signal and waits for the end. Returns the exit code, null after a signal. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const server = this.#started();
    if (signal === 'SIGTERM') return server.stop();
    await server.kill();
    return server.exited;
  }

  signal(signal: NodeJS.Signals): void {
    this.#started().signalGroup(signal);
  }

  /** Resolves with the exit code and the last lines when the app has ended. */
  async ended(): Promise<{ code: number | null; lastLines: string[] }> {
    const server = this.#started();
    return { code: await server.exited, lastLines: server.lastLines };
  }

  #started(): ServerProcess {
    if (!this.#server) throw new Error(`${this.name} was not started`);
    return this.#server;
  }
}

function nodeArguments({ app, from, preload = [] }: AppOptions): string[] {
  const preloads = preload.flatMap((path) => ['--import', path]);
  if (from.kind === 'source') {
    const main = join(repositoryRoot, `apps/${app}/src/main.ts`);
    return ['--conditions=@hqrelay/source', '--import', 'tsx', ...preloads, main];
  }
  const main = join(from.folder, `apps/${app}/dist/main.js`);
  if (!existsSync(main)) throw new Error(`apps/${app} is not built: run npm run build`);
  return [...preloads, ...nodeOptionsOf(app), main];
}

/** The options of Node in the script `start:<app>`: a built app runs as it does in production. */
function nodeOptionsOf(app: AppName): string[] {
  const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return (scripts[`start:${app}`] ?? '').split(' ').filter((word) => word.startsWith('--'));
}
