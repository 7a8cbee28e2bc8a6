import type { Logger } from './logger.ts';

type Step = () => void | Promise<void>;

/** The parts of `process` that ending a process needs. */
interface ProcessHost {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

export interface Shutdown {
  /** Registers how to stop what has just been started; the last one added is stopped first. */
  add(name: string, step: Step): void;
  /** True from the first signal on: readiness answers 503 by it. */
  isDraining(): boolean;
}

/**
 * Ends the process in order on SIGTERM or SIGINT: every step once, backwards, all of them within
 * `deadlineMs`; then exit 0, or 1 when a step failed or the deadline passed. A second signal exits 1 at
 * once. After an uncaught exception no state can be relied on: it is logged and the process exits 1
 * without the steps; everything that was promised is durable in the stores.
 */
export function createShutdown({
  logger,
  deadlineMs,
  host = process,
}: {
  logger: Logger;
  deadlineMs: number;
  host?: ProcessHost;
}): Shutdown {
  const steps: { name: string; step: Step }[] = [];
  let draining = false;
  let exited = false;

  const exit = (code: number) => {
    if (exited) return;
    exited = true;
    host.exit(code);
  };

  async function stop(signal: string): Promise<void> {
    const startedAt = performance.now();
    let current = '';
    let failed = false;
    const deadline = setTimeout(() => {
      logger.error({ step: current, deadlineMs }, 'shutdown.deadline_passed');
      exit(1);
    }, deadlineMs);
    logger.info({ signal, steps: steps.length }, 'shutdown.started');
    for (let next = steps.pop(); next && !exited; next = steps.pop()) {
      current = next.name;
      try {
        await next.step();
      } catch (error) {
        failed = true;
        logger.error({ err: error, step: current }, 'shutdown.step_failed');
      }
    }
    clearTimeout(deadline);
    if (exited) return;
    logger.info({ durationMs: Math.round(performance.now() - startedAt), failed }, 'shutdown.finished');
    exit(failed ? 1 : 0);
  }

  for (const signal of ['SIGTERM', 'SIGINT']) {
    host.on(signal, () => {
      if (draining) {
        logger.warn({ signal }, 'shutdown.forced');
        exit(1);
      } else {
        draining = true;
        void stop(signal);
      }
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    host.on(event, (error) => {
      logger.fatal(
        { err: error },
        `process.${event === 'uncaughtException' ? 'uncaught_exception' : 'unhandled_rejection'}`,
      );
      exit(1);
    });
  }

  return {
    add(name, step) {
      steps.push({ name, step });
    },
    isDraining: () => draining,
  };
}
