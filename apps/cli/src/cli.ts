import type { Readable } from 'node:stream';
import type { Environment } from './config.ts';

/** What a command knows of the world: nothing else is read, and nothing is printed any other way. */
export type Cli = {
  env: Environment;
  /** Where relative file names begin. */
  directory: string;
  stdin: Readable;
  print: (text: string) => void;
  warn: (text: string) => void;
};

/** A value that cannot be used: exit code 2. The message says what was expected, never a secret. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** What was asked for could not be done, for a reason that an operator understands: exit code 1. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}
