// The entry of the root npm scripts: plain Node, because a fresh clone has no dependencies yet. It installs and builds what
// the command needs, then runs the command.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `HQRelay needs Node 20.19 or newer, and this is Node ${process.versions.node}: install a newer one from https://nodejs.org.\n`,
  );
  process.exit(1);
}

const { pathToFileURL } = await import('node:url');
const { fillEnvironment } = await import('./bootstrap/fill-environment.mjs');
const { hasBuildTools, installIfStale } = await import('./bootstrap/install.mjs');
const { build, buildIfStale, buildPagesIfStale, buildWith, builtFile } =
  await import('./bootstrap/build.mjs');
const { endLike, runChild } = await import('./bootstrap/run-child.mjs');

const commandLineTool = 'apps/cli/dist/main.js';

/** @type {Record<string, (args: string[]) => Promise<void>>} */
const commands = {
  async up(args) {
    fillEnvironment(['.env']);
    await installIfStale();
    await buildIfStale();
    await runScript('tools/up/main.ts', args);
  },
  async test(args) {
    await installIfStale();
    await buildPagesIfStale();
    await run(['node_modules/vitest/vitest.mjs', 'run', ...args]);
  },
  async verify(args) {
    await installIfStale();
    await runScript('tools/verify.ts', args);
  },
  async build(args) {
    await installIfStale();
    await (args.length === 0 ? build() : buildWith(args));
  },
  async migrate(args) {
    fillEnvironment(['.env', '.hqrelay/env']);
    await runBuilt(commandLineTool, ['migrate', ...args]);
  },
  async hqrelay(args) {
    fillEnvironment(['.env', '.hqrelay/env']);
    await runBuilt(commandLineTool, args);
  },
  async bench(args) {
    await installIfStale();
    await buildIfStale();
    await runScript('tools/bench/main.ts', args);
  },
  async chaos(args) {
    await installIfStale();
    await buildIfStale();
    await runScript('tools/chaos/main.ts', args);
  },
};

/** @param {string} script @param {string[]} args */
async function runScript(script, args) {
  await run(['--conditions=@hqrelay/source', '--import', 'tsx', script, ...args]);
}

/** @param {string[]} nodeArgs */
async function run(nodeArgs) {
  endLike(await runChild(process.execPath, nodeArgs));
}

/**
 * Runs a built program in this process, which starts faster than a child and needs no signals passed on.
 * Where the build tools are absent, as in a production image, it runs the existing build.
 *
 * @param {string} file
 * @param {string[]} args
 */
async function runBuilt(file, args) {
  if (hasBuildTools()) {
    await installIfStale();
    await buildIfStale();
  }
  const path = builtFile(file);
  process.setSourceMapsEnabled(true);
  process.argv = [process.execPath, path, ...args];
  await import(pathToFileURL(path).href);
}

const [name = '', ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command === undefined) {
  process.stderr.write(`usage: node tools/bootstrap.mjs ${Object.keys(commands).join('|')} [arguments]\n`);
  process.exit(2);
}
await command(args);
