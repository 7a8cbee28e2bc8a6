import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot } from '@hqrelay/services/app-process';

const vitest = 'node_modules/vitest/vitest.mjs';
const test = 'apps/worker/test/order-property.test.ts';

/** Runs the search for a fault in the order of webhooks at the statements of a worker. True when there is none. */
export async function searchStatements({
  seed,
  schedules,
}: {
  seed: number;
  schedules: number;
}): Promise<boolean> {
  const search = spawn(process.execPath, [vitest, 'run', test], {
    cwd: repositoryRoot,
    stdio: 'inherit',
    env: { ...process.env, ORDER_SEED: String(seed), ORDER_SCHEDULES: String(schedules) },
  });
  const [code] = (await once(search, 'exit')) as [number | null];
  return code === 0;
}
