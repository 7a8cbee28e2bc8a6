import type { Logger } from './logger.ts';

type Step = () => void | Promise<void>;
type NamedStep = { name: string; step: Step };

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
  const steps: NamedStep[] = [];
  let draining = false;
  const exit = createExit(host);

  for (const signal of ['SIGTERM', 'SIGINT']) {
    host.on(signal, () => {
      if (draining) {
        logger.warn({ signal }, 'shutdown.forced');
        exit.with(1);
      } else {
        draining = true;
        logger.info({ signal, steps: steps.length }, 'shutdown.started');
        void runInReverse(steps, { logger, deadlineMs, exit });
      }
    });
  }
  exitOnUncaughtError(host, logger, exit);

  return {
    add(name, step) {
      steps.push({ name, step });
    },
    isDraining: () => draining,
  };
}

interface Exit {
  with(code: number): void;
  isUnderWay(): boolean;
}

/** Only the first code counts. */
function createExit(host: ProcessHost): Exit {
  let isUnderWay = false;
  return {
    with(code) {
      if (isUnderWay) return;
      isUnderWay = true;
      host.exit(code);
    },
    isUnderWay: () => isUnderWay,
  };
}

async function runInReverse(
  steps: NamedStep[],
  { logger, deadlineMs, exit }: { logger: Logger; deadlineMs: number; exit: Exit },
): Promise<void> {
  const startedAt = performance.now();
  let current = '';
  let failed = false;
  const deadline = setTimeout(() => {
    logger.error({ step: current, deadlineMs }, 'shutdown.deadline_passed');
    exit.with(1);
  }, deadlineMs);
  for (let next = steps.pop(); next && !exit.isUnderWay(); next = steps.pop()) {
    current = next.name;
    try {
      await next.step();
    } catch (error) {
      failed = true;
      logger.error({ err: error, step: current }, 'shutdown.step_failed');
    }
  }
  clearTimeout(deadline);
  if (exit.isUnderWay()) return;
  logger.info({ durationMs: Math.round(performance.now() - startedAt), failed }, 'shutdown.finished');
  exit.with(failed ? 1 : 0);
}

function exitOnUncaughtError(host: ProcessHost, logger: Logger, exit: Exit): void {
  const events = {
    uncaughtException: 'process.uncaught_exception',
    unhandledRejection: 'process.unhandled_rejection',
  };
  for (const [event, logged] of Object.entries(events)) {
    host.on(event, (error) => {
      logger.fatal({ err: error }, logged);
      exit.with(1);
    });
  }
}
