import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { withLock } from './folder-lock.mjs';
import { inRepository } from './repository.mjs';
import { endLike, runChild } from './run-child.mjs';

/** Names the sources that `dist` was built from. In node_modules, so that a new install builds anew. */
const stamp = inRepository('node_modules/.cache/hqrelay/built');

/** Builds unless every `dist` is there and was built from exactly these sources. Ends the process when the build fails. */
export async function buildIfStale({ quiet = false } = {}) {
  if (isBuilt()) return;
  await withLock(
    inRepository('.hqrelay/build.lock'),
    (pid) => process.stderr.write(`Waiting for process ${pid}, which is building …\n`),
    async () => {
      if (!isBuilt()) await build({ quiet });
    },
  );
}

/**
 * With `quiet`, everything goes to stderr: stdout belongs to the command that comes after.
 *
 * @param {{ quiet?: boolean, args?: string[] }} options
 */
export async function build({ quiet = false, args = [] }) {
  process.stderr.write('Building …\n');
  const sources = fingerprint();
  const logs = args.length === 0 ? ['--output-logs=errors-only', '--log-prefix=task'] : [];
  const end = await runChild(
    process.execPath,
    [inRepository('node_modules/turbo/bin/turbo'), 'run', 'build', ...logs, ...args],
    {
      stdio: quiet ? ['ignore', 2, 2] : ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        TURBO_TELEMETRY_DISABLED: '1',
        TURBO_NO_UPDATE_NOTIFIER: '1',
        DO_NOT_TRACK: '1',
      },
    },
  );
  if (end.code !== 0) {
    if (end.code !== null) process.stderr.write('The build failed; its messages are above.\n');
    endLike(end);
    process.exit();
  }
  if (args.length > 0) return;
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, sources);
}

/**
 * The path of a built file; ends the process with a sentence when it is missing.
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

/** Names, sizes and times of all sources: read in a few milliseconds, for this runs before every command. */
function fingerprint() {
  const hash = createHash('sha256');
  const files = ['tsconfig.base.json', 'turbo.json', 'package-lock.json'];
  for (const folder of builtPackages()) {
    files.push(`${folder}/package.json`, `${folder}/tsconfig.build.json`);
    for (const entry of readdirSync(inRepository(`${folder}/src`), {
      recursive: true,
      withFileTypes: true,
    })) {
      if (entry.isFile() && !entry.name.endsWith('.test.ts')) files.push(`${entry.parentPath}/${entry.name}`);
    }
  }
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(inRepository(file));
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
