import { spawn } from 'node:child_process';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { runsAsRoot } from './data-folder.ts';

export type Say = (line: string) => void;

const policyFile = '/usr/sbin/policy-rc.d';
const policyKept = `${policyFile}.hqrelay-kept`;

/** Why packages cannot be installed here, as a sentence with the command to run; undefined when they can. */
export function whyNotInstallable(packages: readonly string[]): string | undefined {
  const command = `apt-get install ${packages.join(' ')}`;
  if (!existsSync('/usr/bin/apt-get')) {
    return `This is not Debian or Ubuntu: install ${packages.join(', ')} with the system's own package manager, or a Docker engine, then run this again.`;
  }
  if (!runsAsRoot()) return `Installing needs root: run "sudo ${command}", then this again.`;
  return undefined;
}

/** Installs packages with apt-get, saying what goes on. Nothing they bring is started as a service of the system. Throws. */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  const whyNot = whyNotInstallable(packages);
  if (whyNot) throw new Error(whyNot);
  say(`installing ${packages.join(', ')} with apt-get (about a minute on a fresh machine)`);
  forbidServiceStarts();
  const allowAgain = () => allowServiceStarts();
  process.once('exit', allowAgain);
  try {
    await aptGet(['update'], say);
    await aptGet(['install', '-y', '--no-install-recommends', ...packages], say);
  } finally {
    process.off('exit', allowAgain);
    allowServiceStarts();
  }
}

/** The policy that package scripts ask before they start a service. One that was there already comes back afterwards. */
function forbidServiceStarts(): void {
  if (existsSync(policyFile) && !existsSync(policyKept)) renameSync(policyFile, policyKept);
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
}

function allowServiceStarts(): void {
  if (existsSync(policyKept)) renameSync(policyKept, policyFile);
  else rmSync(policyFile, { force: true });
}

async function aptGet(args: readonly string[], say: Say): Promise<void> {
  const child = spawn('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (/^(Fetched|Unpacking|Setting up|E:|Waiting)/.test(line)) say(`  ${line}`);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    throw new Error(`apt-get ${args.join(' ')} failed (${code}):\n${lines.slice(-10).join('\n')}`);
  }
}
