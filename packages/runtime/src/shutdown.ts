import type { Logger } from './logger.ts';

type Step = () => void | Promise<void>;

/** The parts of `process` that a shutdown uses. */
interface ProcessHost {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

export interface Shutdown {
  /** Registers how to stop a part that has just been started; the last one added is stopped first. */
  add(name: string, step: Step): void;
  /** True from the first signal on; readiness is then 503. */
  isDraining(): boolean;
}

/**
 * On SIGTERM or SIGINT runs every step once, in reverse order, within `deadlineMs` altogether; then exits 0, or 1 when a step
 * failed or the deadline passed. A second signal exits 1 at once. An uncaught exception is logged and exits 1 without the
 * steps, since the state of the process is unknown and accepted webhooks are durable in the stores.
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
