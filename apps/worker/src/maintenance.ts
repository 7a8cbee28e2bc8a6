import type { Logger } from '@hqrelay/runtime/logger';

export type Job = {
  name: string;
  /** A function is asked each time it has ended. */
  everyMs: number | (() => number);
  run: () => Promise<void>;
};

export type Maintenance = { stop: () => Promise<void> };

/** Runs each job again some time after it ended, so that none overlaps itself. A job that fails says so and comes again. */
export function startMaintenance(jobs: readonly Job[], logger: Logger): Maintenance {
  const stops = jobs.map((job) => repeat(job, logger));
  return { stop: async () => void (await Promise.all(stops.map((stop) => stop()))) };
}

function repeat(job: Job, logger: Logger): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = () => {
    const { everyMs } = job;
    if (!stopped) timer = setTimeout(start, typeof everyMs === 'number' ? everyMs : everyMs());
  };
  const start = () => {
    running = job
      .run()
      .catch((error: unknown) => logger.warn({ err: error, job: job.name }, 'job.failed'))
      .finally(schedule);
  };
  start();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return running;
  };
}
