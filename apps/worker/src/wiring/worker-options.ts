import type { Logger } from '@hqrelay/runtime/logger';
import type { Registry } from '@hqrelay/runtime/metrics';
import type { Spans } from '@hqrelay/runtime/tracing/spans';

export type WorkerOptions = {
  logger: Logger;
  registry: Registry;
  /** Called with the reason when the check at the start finds a store that the worker cannot work with. */
  refuse: (reason: string) => void;
  /** ms since epoch. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
  /** Undefined where nothing is traced. */
  spans?: Spans | undefined;
};
