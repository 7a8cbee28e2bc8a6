import type { TestProject } from 'vitest/node';
import { startRunServices, type RunUrls } from './run-services.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    run: RunUrls;
  }
}

/** One set of private servers for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Vitest handles SIGINT and SIGTERM only. A terminal that closes sends SIGHUP, after which servers and folders would stay.
  const exit = () => process.exit(129);
  process.once('SIGHUP', exit);
  const services = await startRunServices((line) => process.stderr.write(`${line}\n`));
  project.provide('run', services.urls);
  return async () => {
    process.off('SIGHUP', exit);
    await services.stop();
  };
}
