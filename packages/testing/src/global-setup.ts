import { existsSync } from 'node:fs';
import { missingPackages } from '@hqrelay/services/private-services';
import { installPackages, whyNotInstallable } from '@hqrelay/services/servers/debian-packages';
import type { TestProject } from 'vitest/node';
import { startRunServices, type RunUrls } from './run-services.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    run: RunUrls;
  }
}

/** For all files that run at once, each with several apps. */
const connectionsMax = 500;

/** Programs that some tests install when they need them. */
const programs = {
  nginx: '/usr/sbin/nginx',
  prometheus: '/usr/bin/prometheus',
  chromium: '/usr/bin/chromium',
};

/** Before any test, because a test has a time-out and a download may be slow. */
async function installEveryPackage(say: (line: string) => void): Promise<void> {
  const others = Object.entries(programs).filter(([, path]) => !existsSync(path));
  const missing = [...missingPackages(['postgres', 'redis', 'rabbitmq']), ...others.map(([name]) => name)];
  if (missing.length > 0 && !whyNotInstallable(missing)) await installPackages(missing, say);
}

/** One set of private servers for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Vitest handles SIGINT and SIGTERM only. A terminal that closes sends SIGHUP, after which servers and folders would stay.
  const exit = () => process.exit(129);
  process.once('SIGHUP', exit);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  if (process.env['CI'] === 'true') await installEveryPackage(say);
  const services = await startRunServices(say, { postgresSettings: [`max_connections=${connectionsMax}`] });
  project.provide('run', services.urls);
  return async () => {
    process.off('SIGHUP', exit);
    await services.stop();
  };
}
