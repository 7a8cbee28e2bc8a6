// Checks that the docs name only files, headings, npm scripts, commands and options that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './docs/page-problems.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const topLevel = readdirSync(root);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const commandFiles = filesOf('apps/cli/src').filter((path) => !path.endsWith('.test.ts'));
// Options that commander itself has, and those that a command defines, also as the opposite of another one.
const options = new Set([
  '--help',
  ...commandFiles.flatMap((path) => read(path).match(/--[a-z][a-z-]*/g) ?? []),
]);

const repository = {
  exists: (path: string) => existsSync(join(root, path)),
  read,
  topLevel,
  fileNames: new Set(filesOf('.').map((file) => basename(file))),
  scripts: Object.keys(scripts),
  commands: new Set(
    commandFiles
      .filter((path) => path.startsWith('apps/cli/src/commands/'))
      .map((path) => basename(path, '.ts')),
  ),
  hasOption: (option: string) => options.has(option),
};

const pages = [...topLevel, ...filesOf('docs'), ...filesOf('deploy')].filter((page) => page.endsWith('.md'));
const problems = pages.flatMap((page) => problemsOf(page, repository));
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

/** All files below a folder, as paths from the root. */
function filesOf(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = relative(root, join(root, folder, entry.name));
    if (entry.isFile()) return [path];
    return entry.isDirectory() && !/^(\.git|\.turbo|\.hqrelay|node_modules|dist)$/.test(entry.name)
      ? filesOf(path)
      : [];
  });
}
