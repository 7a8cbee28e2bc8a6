import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { waitFor } from '@hqrelay/testing/wait-for';
import { readConfig } from '../src/config.ts';
import { createWorker } from '../src/worker.ts';
import type { WorkerWorld } from './worker-world.ts';

/** A second worker on the stores and the clock of a world, in the same process. It runs no jobs. */
export async function startAnotherWorker(world: WorkerWorld) {
  const logger = createLogger({ name: 'another', level: 'silent' }, { write: () => {} });
  const worker = createWorker(readConfig(world.env), {
    logger,
    registry: createRegistry(),
    refuse: (reason) => {
      throw new Error(reason);
    },
    now: world.now,
    random: () => 0,
  });
  const { stores, intake } = worker.parts;
  await stores.start();
  await intake.start();
  await waitFor(
    'the other worker to consume',
    () =>
      worker.postgres.health.isUp &&
      worker.publisher.health.isUp &&
      worker.consumers.every(({ isConsuming }) => isConsuming),
  );
  return {
    ...worker,
    close: async () => {
      await intake.stop();
      await stores.stop();
    },
  };
}
