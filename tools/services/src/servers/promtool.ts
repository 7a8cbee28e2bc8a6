import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { installPackages, type Say } from './debian-packages.ts';

/** Runs promtool, and installs Debian's package where it is missing. Returns its output; throws with it when it fails. */
export async function promtool(args: readonly string[], say: Say): Promise<string> {
  if (!existsSync('/usr/bin/promtool')) await installPackages(['prometheus'], say);
  const { stdout, stderr } = await promisify(execFile)('promtool', args).catch((error: unknown) => {
    const output = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')} failed:\n${output.stdout ?? ''}${output.stderr ?? ''}`);
  });
  return stdout + stderr;
}
