import type { Logger } from '@hqrelay/runtime/logger';

export type Job = {
  name: string;
  /** A function is asked each time it has ended. */
  everyMs: number | (() => number);
  /** `stopping` is aborted when the worker stops: a job that goes on for long ends soon after, with the rest left for others. */
  run: (stopping: AbortSignal) => Promise<void>;
};

export type Maintenance = { stop: () => Promise<void> };

/** Runs each job again some time after it ended, so that none overlaps itself. A job that fails says so and comes again. */
export function startMaintenance(jobs: readonly Job[], logger: Logger): Maintenance {
  const stopping = new AbortController();
  const running = jobs.map((job) => repeat(job, stopping.signal, logger));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running.map((ended) => ended()));
    },
  };
}

function repeat(job: Job, stopping: AbortSignal, logger: Logger): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = () => {
    const { everyMs } = job;
    if (!stopping.aborted) timer = setTimeout(start, typeof everyMs === 'number' ? everyMs : everyMs());
  };
  const start = () => {
    running = job
      .run(stopping)
      .catch((error: unknown) => logger.warn({ err: error, job: job.name }, 'job.failed'))
      .finally(schedule);
  };
  start();
  return () => {
    clearTimeout(timer);
    return running;
  };
}
