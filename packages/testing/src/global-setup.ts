import type { TestProject } from 'vitest/node';
import { startRunServices, type RunUrls } from './run-services.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    run: RunUrls;
  }
}

/** One set of private servers for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await startRunServices((line) => process.stderr.write(`${line}\n`));
  const stopAndExit = (signal: NodeJS.Signals) => {
    void services.stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  process.once('SIGINT', stopAndExit).once('SIGTERM', stopAndExit);
  project.provide('run', services.urls);
  return services.stop;
}
