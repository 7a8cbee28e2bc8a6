import type { Readable } from 'node:stream';
import type { Environment } from './config.ts';

/** Everything outside the process that a command reads or prints to. */
export type Cli = {
  env: Environment;
  /** The directory that relative file names start from. */
  directory: string;
  stdin: Readable;
  print: (text: string) => void;
  warn: (text: string) => void;
};

/** A value that cannot be used: exit code 2. The message names the expected value, never a secret. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The command failed for a reason that an operator understands: exit code 1. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}
