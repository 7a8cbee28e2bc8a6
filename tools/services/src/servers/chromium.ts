import { existsSync } from 'node:fs';
import { installPackages, type Say } from './debian-packages.ts';

const program = '/usr/bin/chromium';

/** The path of Debian's Chromium, which is installed where it is missing. Throws an error with the command to run where it cannot be. */
export async function findChromium(say: Say): Promise<string> {
  if (!existsSync(program)) await installPackages(['chromium'], say);
  return program;
}
