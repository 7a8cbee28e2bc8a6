import {
  createApp,
  repositoryRoot,
  type AppName,
  type AppProcess as Process,
} from '@hqrelay/services/app-process';

/** An app with its log lines so far, parsed where they are JSON. */
export type AppProcess = Process & { logs: readonly Record<string, unknown>[] };

/** Starts an app from its source or as it was built, without waiting until it is ready. It ends with `end`, or with this process. */
export async function startApp(
  app: AppName,
  options: {
    env: Record<string, string>;
    built?: boolean;
    port?: number;
    /** Modules that Node loads before the app. */
    preload?: readonly string[];
  },
): Promise<AppProcess> {
  const logs: Record<string, unknown>[] = [];
  const started = await createApp({
    app,
    from: options.built ? { kind: 'built', folder: repositoryRoot } : { kind: 'source' },
    env: options.env,
    ...(options.port !== undefined && { port: options.port }),
    ...(options.preload && { preload: options.preload }),
    parentDeathSignal: 'SIGKILL',
    onLine: (line) => logs.push(parseLine(line)),
  });
  started.start();
  return Object.assign(started, { logs });
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { text: line };
  }
}
