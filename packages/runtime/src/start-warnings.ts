import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from './logger.ts';

export type StartCheck = {
  dependency: string;
  /** A sentence when something is wrong with the store; throws while it cannot be asked. */
  check: () => Promise<string | undefined>;
};

const askAgainMs = 2_000;

/** Asks each store once, as soon as it answers, and warns loudly of a set-up that would hurt later. */
export function warnAtStart(checks: readonly StartCheck[], logger: Logger, isStopping: () => boolean): void {
  for (const each of checks) void ask(each, logger, isStopping);
}

async function ask(
  { dependency, check }: StartCheck,
  logger: Logger,
  isStopping: () => boolean,
): Promise<void> {
  while (!isStopping()) {
    try {
      const warning = await check();
      if (warning !== undefined) logger.error({ dependency, warning }, 'dependency.badly_set_up');
      return;
    } catch {
      // Not there yet: its own line says so.
      await wait(askAgainMs, undefined, { ref: false });
    }
  }
}
