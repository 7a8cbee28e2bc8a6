import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { withLock } from './folder-lock.mjs';
import { inRepository } from './repository.mjs';
import { endLike, runChild } from './run-child.mjs';

/** A fingerprint of the sources that `dist` was built from. In node_modules, so that a new install builds again. */
const stamp = inRepository('node_modules/.cache/hqrelay/built');
const pagesStamp = inRepository('node_modules/.cache/hqrelay/built-pages');
const pages = 'apps/console/dist/web/index.html';

/** Builds unless every `dist` exists and was built from exactly these sources. Ends the process when the build fails. */
export async function buildIfStale() {
  if (isBuilt()) return;
  await withLock(
    inRepository('.hqrelay/build.lock'),
    (pid) => say(`Waiting for process ${pid}, which is building …`),
    async () => {
      if (!isBuilt()) await build();
    },
  );
}

/** Builds everything. Prints to stderr alone: stdout belongs to the command that runs after it. */
export async function build() {
  say('Building …');
  const startedAt = performance.now();
  const sources = fingerprint();
  const end = await runTurbo(['--output-logs=errors-only', '--log-prefix=task'], ['ignore', 'pipe', 'pipe']);
  if (end.code !== 0) {
    if (end.code !== null) say(`${end.output}\nThe build failed.`);
    endLike(end);
    process.exit();
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, sources);
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** Builds the pages of the console alone, for the tests in a browser. Ends the process when the build fails. */
export async function buildPagesIfStale() {
  const sources = fingerprintOf([], ['apps/console/web', 'packages/domain/src']);
  const isFresh =
    existsSync(inRepository(pages)) && existsSync(pagesStamp) && readFileSync(pagesStamp, 'utf8') === sources;
  if (isFresh) return;
  const requireInConsole = createRequire(inRepository('apps/console/package.json'));
  const vite = [
    join(dirname(requireInConsole.resolve('vite/package.json')), 'bin/vite.js'),
    'build',
    inRepository('apps/console/web'),
    '--logLevel',
    'warn',
  ];
  const end = await runChild(process.execPath, vite, { stdio: ['ignore', 2, 2] });
  if (end.code !== 0) {
    endLike(end);
    process.exit();
  }
  mkdirSync(dirname(pagesStamp), { recursive: true });
  writeFileSync(pagesStamp, sources);
}

/** A build with options of turbo's own. @param {string[]} args */
export async function buildWith(args) {
  endLike(await runTurbo(args, 'inherit'));
}

/**
 * @param {string[]} args
 * @param {import('node:child_process').StdioOptions} stdio
 */
function runTurbo(args, stdio) {
  return runChild(process.execPath, [inRepository('node_modules/turbo/bin/turbo'), 'run', 'build', ...args], {
    stdio,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
  });
}

/**
 * The path of a built file. Prints the command that builds it and ends the process when it is missing.
 *
 * @param {string} path relative to the repository's root
 */
export function builtFile(path) {
  if (!existsSync(inRepository(path))) {
    process.stderr.write(`${path} is missing: run \`npm run build\` first.\n`);
    process.exit(1);
  }
  return inRepository(path);
}

function isBuilt() {
  return (
    builtPackages().every((folder) => existsSync(inRepository(`${folder}/dist`))) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === fingerprint()
  );
}

function fingerprint() {
  const folders = builtPackages();
  return fingerprintOf(
    [
      'tsconfig.base.json',
      'turbo.json',
      ...folders.flatMap((folder) => [`${folder}/package.json`, `${folder}/tsconfig.build.json`]),
    ],
    folders.flatMap((folder) => [`${folder}/src`, `${folder}/web`]),
  );
}

/**
 * Of names, sizes and times, not contents: it runs before every command and must take milliseconds.
 *
 * @param {string[]} files
 * @param {string[]} folders a folder that does not exist is skipped
 */
function fingerprintOf(files, folders) {
  const hash = createHash('sha256');
  const all = [...files, 'package-lock.json'].map(inRepository);
  for (const folder of folders.map(inRepository).filter((each) => existsSync(each))) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.endsWith('.test.ts')) all.push(`${entry.parentPath}/${entry.name}`);
    }
  }
  for (const file of all.sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** The workspaces that have a build, as folders. */
function builtPackages() {
  return ['apps', 'packages']
    .flatMap((parent) => readdirSync(inRepository(parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(inRepository(`${folder}/tsconfig.build.json`)));
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}
