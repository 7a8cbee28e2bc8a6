import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess } from '../process/server-process.ts';
import { installPackages, type Say } from './debian-packages.ts';

export type PrivatePrometheusOptions = {
  /** For its configuration and its data. */
  dir: string;
  port: number;
  /** The text of prometheus.yml; its rule files are looked for in `dir`. */
  configuration: string;
  say: Say;
};

const program = '/usr/bin/prometheus';

/** Debian's Prometheus on 127.0.0.1. Installs the package where it is missing; throws with the command to run where it cannot. */
export async function startPrivatePrometheus(options: PrivatePrometheusOptions): Promise<RunningServer> {
  const { dir, port, configuration, say } = options;
  if (!existsSync(program)) await installPackages(['prometheus'], say);
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'prometheus.yml');
  writeFileSync(file, configuration);
  const url = `http://127.0.0.1:${port}`;
  return runServer({ url, port }, async () => {
    const server = new ServerProcess({
      name: 'Prometheus',
      command: program,
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      logFile: join(dir, 'prometheus.log'),
      stopSignal: 'SIGTERM',
    });
    await server.waitUntil(async () => (await fetch(`${url}/-/ready`)).ok, 120_000);
    return server;
  });
}
