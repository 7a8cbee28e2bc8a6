import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@hqrelay/services/free-port';
import { waitFor } from './wait-for.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type AppName = 'receiver' | 'worker';

export type AppProcess = {
  url: string;
  /** Its log lines so far, parsed where they are JSON. */
  logs: readonly Record<string, unknown>[];
  pid: () => number;
  /** Sends the signal and waits for the end. Returns the exit code, null after a signal. */
  end: (signal?: NodeJS.Signals) => Promise<number | null>;
  waitUntilReady: (timeoutMs?: number) => Promise<void>;
};

/**
 * Starts an app as a process of its own, from its source or as it was built. It does not wait for it to be ready. The
 * process ends with `end`, or when this one does.
 */
export async function startApp(
  app: AppName,
  options: { env: Record<string, string>; built?: boolean; port?: number },
): Promise<AppProcess> {
  const [freePort] = await freePorts(1);
  const port = options.port ?? freePort;
  const built = `${root}apps/${app}/dist/main.js`;
  if (options.built && !existsSync(built)) throw new Error(`apps/${app} is not built: run npm run build`);
  const args = options.built
    ? ['--enable-source-maps', built]
    : ['--conditions=@hqrelay/source', '--import', 'tsx', `${root}apps/${app}/src/main.ts`];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      LOG_LEVEL: 'info',
      [app === 'receiver' ? 'RECEIVER_PORT' : 'WORKER_PORT']: String(port),
      ...options.env,
    },
  });
  const logs = collectLogs(child);
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    logs,
    pid: () => child.pid as number,
    end: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const code = await exited;
      process.off('exit', killWithUs);
      return code;
    },
    waitUntilReady: async (timeoutMs = 30_000) => {
      await waitFor(
        `the ${app} to be ready`,
        async () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${JSON.stringify(logs.slice(-5))}`);
          return (await fetch(`${url}/health/ready`)).ok;
        },
        { timeoutMs },
      );
    },
  };
}

function collectLogs(child: ChildProcess): Record<string, unknown>[] {
  const logs: Record<string, unknown>[] = [];
  let rest = '';
  const take = (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      try {
        logs.push(JSON.parse(line) as Record<string, unknown>);
      } catch {
        logs.push({ text: line });
      }
    }
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return logs;
}
