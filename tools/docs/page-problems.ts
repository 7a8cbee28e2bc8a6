import { dirname, join } from 'node:path';

/** The repository as a page sees it. Paths are relative to the root. */
export type Repository = {
  exists: (path: string) => boolean;
  read: (path: string) => string;
  topLevel: readonly string[];
  /** The names of all files, without their folders. */
  fileNames: ReadonlySet<string>;
  /** The npm scripts of the root. */
  scripts: readonly string[];
  /** The commands of the command line tool, such as `endpoint-list`. */
  commands: ReadonlySet<string>;
  /** Whether the command line tool has an option such as `--rate`. */
  hasOption: (option: string) => boolean;
};

/** Files that the commands of the docs make: they are not part of the repository. */
const made = /^\.env$|^\.hqrelay(\/|$)|^node_modules(\/|$)|(^|\/)dist(\/|$)/;
const fileEnding = /\.(ts|mjs|js|json|md|sql|ya?ml|sh|lua|conf)$/;
const commandLine = /\b(?:npm run (?:--silent )?hqrelay --|compose run --rm hqrelay) ([a-z][^`#\n]*)/g;

/** A sentence for each link, path, npm script, command and option of a page that does not exist. */
export function problemsOf(page: string, repository: Repository): string[] {
  const text = repository.read(page);
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const code = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, content = '']) => content);
  const scripts = [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
  const commands = [...text.matchAll(commandLine)].map(([, words = '']) => words);
  return [
    ...links.filter((target) => !linkExists(page, target, repository)).map((target) => `links to ${target}`),
    ...code
      .filter((content) => !pathExists(page, content, repository))
      .map((content) => `names \`${content}\``),
    ...scripts.filter((name) => !repository.scripts.includes(name)).map((name) => `says npm run ${name}`),
    ...commands.flatMap((words) => unknownWords(words, repository)).map((word) => `says hqrelay ${word}`),
  ].map((what) => `${page} ${what}, which does not exist`);
}

function linkExists(page: string, target: string, { exists, read }: Repository): boolean {
  if (/^[a-z]+:/.test(target)) return true;
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!exists(file)) return false;
  return heading === undefined || !file.endsWith('.md') || headingsOf(read(file)).includes(heading);
}

/** Checks only text that looks like a path of this repository: a media type or a route does not. */
function pathExists(page: string, content: string, { exists, topLevel, fileNames }: Repository): boolean {
  const path = content.replace(/:\d+$/, '').replace(/\/$/, '').replace(/^\.\//, '');
  if (!/^[\w.@*-]+(\/[\w.@*-]+)*$/.test(path) || path.startsWith('@') || made.test(path)) return true;
  if (!path.includes('/')) return !fileEnding.test(path) || fileNames.has(path);
  const isOurs = topLevel.includes(path.split('/')[0] ?? '') || fileEnding.test(path);
  const named = path.includes('*') ? path.slice(0, path.indexOf('*')) : path;
  return !isOurs || exists(named) || exists(join(dirname(page), named));
}

/** The command, if there is none of its name, and the options that no command has. */
function unknownWords(words: string, { commands, hasOption }: Repository): string[] {
  const [first = '', second = ''] = words.trim().split(/\s+/);
  const isCommand = commands.has(first) || commands.has(`${first}-${second}`);
  const options = [...words.matchAll(/(?<=^|\s)--[a-z][a-z-]*/g)].map(([option]) => option);
  return [
    ...(isCommand ? [] : [`${first} ${second}`.trim()]),
    ...options.filter((option) => !hasOption(option)),
  ];
}

/** Anchors as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ +(.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
