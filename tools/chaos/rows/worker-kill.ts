import type { AppProcess } from '@hqrelay/services/app-process';
import type { Row, Stage } from '../row.ts';
import { deliveriesInFlight } from '../site.ts';

/** The broker redelivers the messages that the worker had in flight: at least once, never zero times. */
export const workerKill: Row = {
  name: 'worker-kill',
  fault:
    'each worker in turn is killed (`kill -9`) while it posts, then each once more between the confirm of a retry and the acknowledgement of the attempt before it',
  duplicatesBecause: 'a killed worker had posted and not yet acknowledged',
  workerPreload: 'die-before-ack.mjs',
  hit: ({ cut, duplicates }) =>
    cut + duplicates > 0 ? `${cut} deliveries were cut and ${duplicates} made again` : undefined,
  run: async (site, stage) => {
    const { workers } = site;
    for (const worker of stage.brief ? workers.slice(0, 1) : workers) {
      await stage.fault(
        `${worker.name} is killed`,
        async () => {
          await worker.end('SIGKILL');
          await restart(worker, stage);
        },
        { inFlight: () => stage.load.inFlight() > 0 && deliveriesInFlight(site) > 6 },
      );
      await stage.wait(500);
    }
    for (const worker of stage.brief ? workers.slice(1) : workers) {
      await stage.fault(`${worker.name} dies between confirm and acknowledgement`, async () => {
        worker.signal('SIGUSR2');
        await untilEnded(worker, stage);
        await restart(worker, stage);
      });
      await stage.wait(500);
    }
  },
};

async function restart(worker: AppProcess, stage: Stage): Promise<void> {
  await stage.wait(200);
  worker.start();
  await worker.waitUntilReady();
}

async function untilEnded(worker: AppProcess, stage: Stage): Promise<void> {
  const giveUpAt = performance.now() + 5_000;
  while (worker.isRunning()) {
    if (performance.now() > giveUpAt) throw new Error(`${worker.name} got no confirm for a publish`);
    await stage.wait(5);
  }
}
