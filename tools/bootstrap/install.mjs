import { existsSync, statSync } from 'node:fs';
import { withLock } from './folder-lock.mjs';
import { inRepository } from './repository.mjs';
import { endLike, runChild } from './run-child.mjs';

const stillInstallingMs = 15_000;

/** False where only production dependencies are installed: nothing can or need be built there. */
export function hasBuildTools() {
  return !existsSync(inRepository('node_modules')) || existsSync(inRepository('node_modules/turbo'));
}

/** Runs `npm ci` when node_modules is missing, unfinished or older than package-lock.json. Ends the process when it fails. */
export async function installIfStale() {
  if (isInstalled()) return;
  await withLock(
    inRepository('.hqrelay/install.lock'),
    (pid) => say(`Waiting for process ${pid}, which is installing the dependencies …`),
    async () => {
      if (!isInstalled()) await install();
    },
  );
}

/** Prints to stderr alone: stdout belongs to the command that runs after it. */
async function install() {
  say(`Installing the dependencies (npm ci; ${reason()}) …`);
  const startedAt = performance.now();
  const beat = setInterval(() => {
    say(`Still installing, ${seconds(startedAt)} s …`);
  }, stillInstallingMs);
  // npm's progress bar is for terminals; --loglevel, because `npm run --silent` would silence its errors too.
  const [command, ...first] = npm();
  const end = await runChild(command, [...first, 'ci', '--include=dev', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  });
  clearInterval(beat);
  if (end.code === 0) return say(`Installed in ${seconds(startedAt)} s.`);
  if (end.code !== null) say('npm ci failed; its message is above.');
  endLike(end);
  process.exit();
}

/** npm writes `node_modules/.package-lock.json` last, so an interrupted install has none. */
function isInstalled() {
  const installedAt = modifiedAt('node_modules/.package-lock.json');
  return installedAt >= modifiedAt('package-lock.json') && hasBuildTools();
}

function reason() {
  if (modifiedAt('node_modules/.package-lock.json') === 0) return 'there is no complete node_modules yet';
  return hasBuildTools() ? 'package-lock.json is newer than node_modules' : 'the build tools are missing';
}

/** The npm that started this process, or else the one on the PATH. @returns {[string, ...string[]]} */
function npm() {
  const started = process.env['npm_execpath'];
  return started?.endsWith('npm-cli.js') ? [process.execPath, started] : ['npm'];
}

/** @param {string} path @returns milliseconds since the epoch, 0 when there is no such file */
function modifiedAt(path) {
  return statSync(inRepository(path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** @param {number} startedAt */
function seconds(startedAt) {
  return Math.round((performance.now() - startedAt) / 1000);
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}
