import { createApp, type AppName, type AppProcess, type AppSource } from '@hqrelay/services/app-process';

/** Receivers and workers of one deployment, each a process of its own. */
export type Fleet = {
  receivers: readonly AppProcess[];
  workers: readonly AppProcess[];
  /** Ends the apps that run. */
  end: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
};

export type FleetOptions = {
  from: AppSource;
  receivers: number;
  workers: number;
  env: Readonly<Record<string, string>>;
  /** Variables that replace those of `env` for one worker, by its index. */
  workerEnv?: (index: number) => Readonly<Record<string, string>>;
  logFolder: string;
  /** Put before the apps' names. */
  prefix?: string;
  /** Modules that every app loads first. */
  preload?: readonly string[];
  /** Modules that workers load after those. */
  workerPreload?: readonly string[];
};

/** Starts the apps and waits until all are ready. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const create = (app: AppName, count: number, preload: readonly string[] = []) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => {
        const name = `${options.prefix ?? ''}${app} ${index + 1}`;
        const logFile = `${options.logFolder}/${name.replaceAll(' ', '-')}.log`;
        const own = app === 'worker' ? options.workerEnv?.(index) : undefined;
        return createApp({
          app,
          name,
          from: options.from,
          env: { ...options.env, ...own },
          logFile,
          preload: [...(options.preload ?? []), ...preload],
        });
      }),
    );
  const receivers = await create('receiver', options.receivers);
  const workers = await create('worker', options.workers, options.workerPreload);
  const all = [...receivers, ...workers];
  const end: Fleet['end'] = async (signal) => {
    await Promise.all(all.filter((app) => app.isRunning()).map((app) => app.end(signal)));
  };
  try {
    for (const app of all) app.start();
    await Promise.all(all.map((app) => app.waitUntilReady()));
    return { receivers, workers, end };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}
