import type { ServiceName } from '@hqrelay/services/private-services';
import { listens } from '@hqrelay/services/listens';
import type { RunningServer } from '@hqrelay/services/running-server';
import { startRunServices, type RunUrls } from '@hqrelay/testing/run-services';

/** Private, durable servers in a throw-away folder, which a scenario may stop, kill and start again. */
export type DurableServices = {
  urls: RunUrls;
  /** Of the whole run: servers, logs and copies of the apps. */
  folder: string;
  server: (name: ServiceName) => RunningServer;
  /** Runs RabbitMQ's command line tool at this broker. */
  rabbitmqctl: (...args: string[]) => Promise<void>;
  /** Starts every server that a scenario left stopped. */
  restore: () => Promise<void>;
};

type Options = {
  say: (line: string) => void;
  postgresSettings?: readonly string[];
  /** Keeps the folder with the logs until the next run, and prints its path. */
  keepLogs?: boolean;
};

/** Runs `work`, and ends the servers after it or when this process gets SIGINT or SIGTERM. */
export async function withDurableServices(
  { say, postgresSettings = [], keepLogs = false }: Options,
  work: (services: DurableServices) => Promise<void>,
): Promise<void> {
  say('Starting private, durable servers …');
  const { urls, servers, stop } = await startRunServices(say, {
    durable: true,
    folderPrefix: 'hqrelay-harness-',
    postgresSettings,
  });
  const stopAndExit = (signal: NodeJS.Signals) =>
    void stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  process.once('SIGINT', stopAndExit).once('SIGTERM', stopAndExit);
  try {
    await work({
      urls,
      folder: urls.folder,
      server: (name) => servers[name],
      rabbitmqctl: servers.rabbitmq.rabbitmqctl,
      restore: async () => {
        for (const { port, start } of [servers.postgres, servers.redis, servers.rabbitmq]) {
          if (!(await listens(port))) await start();
        }
      },
    });
  } finally {
    process.off('SIGINT', stopAndExit).off('SIGTERM', stopAndExit);
    await stop({ keepFolder: keepLogs });
    if (keepLogs) say(`The logs are in ${urls.folder} until the next run`);
  }
}
