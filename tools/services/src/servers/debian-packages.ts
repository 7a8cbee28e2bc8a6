import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runsAsRoot } from './data-folder.ts';

export type Say = (line: string) => void;

const policyFile = '/usr/sbin/policy-rc.d';
const policyKept = `${policyFile}.hqrelay-kept`;
const ourPolicy = '# HQRelay installs packages right now: none of them may start a service.';
/** Waits until no other process installs here: apt-get waits for the lock of dpkg, and for no other of its locks. */
const installScript = `
trap '' HUP INT TERM
exec 9>/run/lock/hqrelay-apt.lock
flock 9
if [ -e ${policyFile} ] && ! grep -q '${ourPolicy}' ${policyFile}; then mv ${policyFile} ${policyKept}; fi
printf '%s\\n' '#!/bin/sh' '${ourPolicy}' 'exit 101' >${policyFile}
chmod 755 ${policyFile}
apt() {
  apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" 9>&-
}
for pause in 5 20 0; do
  apt update && apt install -y --no-install-recommends "$@"
  code=$?
  if [ $code = 0 ]; then break; fi
  sleep $pause
done
if [ -e ${policyKept} ]; then mv ${policyKept} ${policyFile}; else rm -f ${policyFile}; fi
exit $code`;
const progressLine = /^(Fetched|Unpacking|Setting up|E:|Waiting)/;
/** After a longer silence the installation would look stuck. */
const silenceMsMax = 10_000;

/** The reason why packages cannot be installed here, with the command to run; undefined when they can. */
export function whyNotInstallable(packages: readonly string[]): string | undefined {
  const command = `apt-get install ${packages.join(' ')}`;
  if (!existsSync('/usr/bin/apt-get')) {
    return `This is not Debian or Ubuntu: install ${packages.join(', ')} with the system's own package manager, or a Docker engine, then run this again.`;
  }
  if (!runsAsRoot()) return `Installing needs root: run "sudo ${command}", then this again.`;
  return undefined;
}

/**
 * Installs packages with apt-get and reports its progress. None of their services is started. Throws when it fails.
 *
 * apt-get outlives this process: an interrupted one would leave packages half configured, and removing the policy too early
 * would let their services start. So Ctrl-C does not reach it, it needs no pipe, and its script writes and removes the policy.
 * The script restores an existing policy, except for one of this function, which a crash may have left.
 */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  const whyNot = whyNotInstallable(packages);
  if (whyNot) throw new Error(whyNot);
  say(`installing ${packages.join(', ')} with apt-get (about a minute on a fresh machine)`);
  const output = unnamedFile();
  try {
    const child = spawn('sh', ['-c', installScript, 'sh', ...packages], {
      stdio: ['ignore', output, output],
      detached: true,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const lastLines = await follow(output, ended, say);
    const code = await ended;
    if (code !== 0) {
      throw new Error(`apt-get install ${packages.join(' ')} failed (${code}):\n${lastLines.join('\n')}`);
    }
  } finally {
    closeSync(output);
  }
}

function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'hqrelay-apt-'));
  const file = openSync(join(folder, 'output'), 'w+');
  rmSync(folder, { recursive: true });
  return file;
}

/** Reports the progress in a file that grows, until `ended`. Returns its last lines. */
async function follow(file: number, ended: Promise<unknown>, say: Say): Promise<string[]> {
  const chunk = Buffer.alloc(65_536);
  let position = 0;
  let rest = '';
  let lines: string[] = [];
  let saidAt = Date.now();
  const tell = (line: string) => {
    saidAt = Date.now();
    say(`  ${line}`);
  };
  const isOver = ended.then(
    () => true,
    () => true,
  );
  for (let over = false; ; over = await Promise.race([isOver, wait(250, false)])) {
    for (let count; (count = readSync(file, chunk, 0, chunk.length, position)) > 0; position += count) {
      const fresh = (rest + chunk.toString('utf8', 0, count)).split('\n');
      rest = fresh.pop() ?? '';
      lines = [...lines, ...fresh].slice(-10);
      for (const line of fresh) if (progressLine.test(line)) tell(line);
    }
    if (over) return lines;
    if (Date.now() - saidAt >= silenceMsMax) tell(lines.at(-1) ?? 'waiting for apt-get');
  }
}
