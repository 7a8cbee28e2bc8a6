import { Readable } from 'node:stream';
import { run } from '../src/program.ts';

export type CliOutcome = { exitCode: number; stdout: string; stderr: string };

/** Runs a command line as the program does, with `env` as the whole environment. */
export async function runCli(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
  { stdin = '', directory = '/' }: { stdin?: string | Buffer; directory?: string } = {},
): Promise<CliOutcome> {
  let stdout = '';
  let stderr = '';
  const exitCode = await run(argv, {
    env,
    directory,
    stdin: Readable.from([Buffer.from(stdin)]),
    print: (text) => (stdout += text),
    warn: (text) => (stderr += text),
  });
  return { exitCode, stdout, stderr };
}

/** Parses stdout as one JSON value. Throws when stdout has anything else, or the exit code differs. */
export function jsonOf(outcome: CliOutcome, exitCode = 0): unknown {
  if (outcome.exitCode !== exitCode) {
    throw new Error(`exit code ${outcome.exitCode} instead of ${exitCode}: ${outcome.stderr}`);
  }
  return JSON.parse(outcome.stdout) as unknown;
}
