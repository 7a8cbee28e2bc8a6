import type { Logger } from '@hqrelay/runtime/logger';

export type JobRun = {
  /** How many items it handled. */
  count: number;
  tookMs: number;
};

/** Periodic work of a worker beside its deliveries. */
export type Job = {
  /** How long after the end of a run the next one begins. */
  everyMs: number | ((last: JobRun) => number);
  /** The event that is logged with the count, unless the count is 0. */
  event?: string;
  /**
   * Returns how many items it handled, where they can be counted. `stopping` is aborted when the worker stops: a long run then
   * ends soon and leaves the rest to other workers.
   */
  run: (stopping: AbortSignal) => Promise<number> | Promise<void>;
};

export type JobRunner = { start: () => void; stop: () => Promise<void> };

/** Runs each job again some time after its last run ended, so that no job overlaps itself. A failure is logged. */
export function createJobRunner(jobs: Readonly<Record<string, Job>>, logger: Logger): JobRunner {
  const stopping = new AbortController();
  let repeating: (() => Promise<void>)[] = [];
  return {
    start: () => {
      repeating = Object.entries(jobs).map(([name, job]) => repeat(name, job, stopping.signal, logger));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(repeating.map((ended) => ended()));
    },
  };
}

/** Returns a function that cancels the next run and waits for the one under way. */
function repeat(name: string, job: Job, stopping: AbortSignal, logger: Logger): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const start = () => {
    running = runOnce(name, job, stopping, logger).then((last) => {
      const { everyMs } = job;
      if (!stopping.aborted) timer = setTimeout(start, typeof everyMs === 'number' ? everyMs : everyMs(last));
    });
  };
  start();
  return () => {
    clearTimeout(timer);
    return running;
  };
}

async function runOnce(name: string, job: Job, stopping: AbortSignal, logger: Logger): Promise<JobRun> {
  const startedAt = performance.now();
  let count = 0;
  try {
    count = (await job.run(stopping)) ?? 0;
    if (count > 0 && job.event) logger.info({ count }, job.event);
  } catch (error) {
    logger.warn({ err: error, job: name }, 'job.failed');
  }
  return { count, tookMs: performance.now() - startedAt };
}
