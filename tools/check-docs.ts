// The docs name only files, headings and npm scripts that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const topLevel = readdirSync(root);
const fileNames = new Set(filesOf('.').map((file) => basename(file)));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Files that the commands of the docs make: they are not part of the repository. */
const made = /^\.env$|^\.hqrelay(\/|$)|^node_modules(\/|$)|(^|\/)dist(\/|$)/;
const fileEnding = /\.(ts|mjs|js|json|md|sql|ya?ml|sh|lua|conf)$/;

const pages = [...topLevel.filter((name) => name.endsWith('.md')), ...filesOf('docs'), ...filesOf('deploy')];
const problems = pages.filter((page) => page.endsWith('.md')).flatMap(check);
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function check(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const code = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, content = '']) => content);
  const commands = [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
  return [
    ...links.filter((target) => !linkExists(page, target)).map((target) => `links to ${target}`),
    ...code.filter((content) => !pathExists(page, content)).map((content) => `names \`${content}\``),
    ...commands.filter((name) => !Object.hasOwn(scripts, name)).map((name) => `says npm run ${name}`),
  ].map((what) => `${page} ${what}, which does not exist`);
}

function linkExists(page: string, target: string): boolean {
  if (/^[a-z]+:/.test(target)) return true;
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  return heading === undefined || !file.endsWith('.md') || headingsOf(file).includes(heading);
}

/** Checks only text that looks like a path of this repository: a media type or a route does not. */
function pathExists(page: string, content: string): boolean {
  const path = content.replace(/:\d+$/, '').replace(/\/$/, '').replace(/^\.\//, '');
  if (!/^[\w.@*-]+(\/[\w.@*-]+)*$/.test(path) || path.startsWith('@') || made.test(path)) return true;
  if (!path.includes('/')) return !fileEnding.test(path) || fileNames.has(path);
  const isOurs = topLevel.includes(path.split('/')[0] ?? '') || fileEnding.test(path);
  const named = path.includes('*') ? path.slice(0, path.indexOf('*')) : path;
  return !isOurs || existsSync(join(root, named)) || existsSync(join(root, dirname(page), named));
}

/** Anchors as GitHub makes them. */
function headingsOf(file: string): string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

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
