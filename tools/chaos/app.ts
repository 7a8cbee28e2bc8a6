import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@hqrelay/services/free-port';
import { ServerProcess } from '@hqrelay/services/server-process';
import { waitFor } from '@hqrelay/testing/wait-for';

export type AppKind = 'receiver' | 'worker';

/** An app as a process of its own, which may be ended and started again on the same port. */
export type App = {
  kind: AppKind;
  /** For people: `receiver 1`. */
  name: string;
  port: number;
  logFile: string;
  pid: () => number;
  isRunning: () => boolean;
  /** Returns when the process is there, not when it is ready. */
  start: () => void;
  untilReady: (timeoutMs?: number) => Promise<void>;
  /** SIGTERM, and the end of it. */
  stop: () => Promise<void>;
  kill: () => Promise<void>;
  signal: (signal: NodeJS.Signals) => void;
};

/** Where apps are started from: a copy of what was built, or the source. */
export type AppSource = { kind: 'built'; folder: string } | { kind: 'source' };

export type AppOptions = {
  kind: AppKind;
  name: string;
  from: AppSource;
  env: Record<string, string>;
  logFolder: string;
  /** A free one unless told otherwise. */
  port?: number;
  /** Modules that Node loads before the app. */
  preload?: readonly string[];
};

const root = fileURLToPath(new URL('../../', import.meta.url));

export async function createApp(options: AppOptions): Promise<App> {
  const { kind, name, from } = options;
  const [freePort = 0] = await freePorts(1);
  const port = options.port ?? freePort;
  const logFile = join(options.logFolder, `${name.replaceAll(' ', '-')}.log`);
  const preload = (options.preload ?? []).flatMap((path) => ['--import', path]);
  const args =
    from.kind === 'built'
      ? [...preload, '--enable-source-maps', join(from.folder, `apps/${kind}/dist/main.js`)]
      : [
          '--conditions=@hqrelay/source',
          '--import',
          'tsx',
          ...preload,
          join(root, `apps/${kind}/src/main.ts`),
        ];
  let server: ServerProcess | undefined;
  const running = () => {
    if (!server) throw new Error(`${name} was not started`);
    return server;
  };
  return {
    kind,
    name,
    port,
    logFile,
    pid: () => running().pid,
    isRunning: () => server?.isRunning ?? false,
    start: () => {
      server = new ServerProcess({
        name,
        command: process.execPath,
        args,
        cwd: root,
        logFile,
        stopSignal: 'SIGTERM',
        env: {
          LOG_LEVEL: 'info',
          [kind === 'receiver' ? 'RECEIVER_PORT' : 'WORKER_PORT']: String(port),
          ...options.env,
        },
      });
    },
    untilReady: async (timeoutMs = 30_000) => {
      await waitFor(
        `${name} to be ready`,
        async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok,
        { timeoutMs, everyMs: 50 },
      );
    },
    stop: async () => server?.stop(),
    kill: () => running().kill(),
    signal: (signal) => running().signalGroup(signal),
  };
}
