// Checks that dependencies point one way and without circles, that packages are imported by their files, and that the names
// of files and folders say what they contain.
import { basename, dirname } from 'node:path';
import { findCircles } from './structure/circles.ts';
import { importableBy, partOf } from './structure/layers.ts';
import { readSourceFiles, type Import, type SourceFile } from './structure/source-files.ts';

/** The only modules outside it that the pure domain may import. */
const domainMayImport = ['zod', 'node:crypto', 'node:net', 'node:buffer', 'node:zlib'];
const vagueName = /^(index|utils?|helpers?|common|types|misc|manager|service)\.(tsx?|mjs)$/;
const filesPerFolder = 12;
/** Folders that hold one file for each thing of a kind, however many there are. */
const mayBeLong = [
  'packages/db/src/queries',
  'packages/provider-oracles/src/cases',
  'packages/db/src/schema',
  'apps/cli/src/commands',
  'apps/console/src/routes',
  'apps/console/src/schemas',
  'apps/worker/src/jobs',
  'tools/chaos/rows',
  'tools/bench/isolation',
];

const files = readSourceFiles(['apps', 'packages', 'tools']);
const problems = [...files.flatMap(problemsOf), ...longFolders(), ...folderCircles()];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function problemsOf(file: SourceFile): string[] {
  const part = partOf(file.path);
  const found = vagueName.test(basename(file.path)) ? ['name it after its main export'] : [];
  if (part !== undefined) {
    const allowed = importableBy(part, file.isTest);
    if (!allowed) found.push(`add ${part} to the rows of tools/structure/layers.ts`);
    else found.push(...file.imports.flatMap((each) => problemOfImport(file, part, allowed, each) ?? []));
  }
  return found.map((problem) => `${file.path}: ${problem}`);
}

function problemOfImport(
  file: SourceFile,
  part: string,
  allowed: readonly string[],
  { specifier, target }: Import,
): string | undefined {
  const imported = target === undefined ? /^@hqrelay\/([^/]+)/.exec(specifier)?.[1] : partOf(target);
  if (imported !== undefined && imported !== part) {
    if (!allowed.includes(imported)) return `${part} may not import ${imported} ("${specifier}")`;
    const isFolderOfTools = file.path.startsWith('tools/') && !file.path.startsWith('tools/services/');
    return target === undefined || isFolderOfTools
      ? undefined
      : `"${specifier}" reaches into another package`;
  }
  if (target !== undefined && imported === undefined && part !== 'bootstrap') {
    return target.startsWith('tools/') ? undefined : `"${specifier}" leaves the ${part} package`;
  }
  return part === 'domain' && !file.isTest && target === undefined && !domainMayImport.includes(specifier)
    ? `the domain is pure: it may not import ${specifier}`
    : undefined;
}

function longFolders(): string[] {
  const folders = grouped(({ path }) => dirname(path));
  return [...folders]
    .filter(([folder, inside]) => inside.length > filesPerFolder && !mayBeLong.includes(folder))
    .map(
      ([folder, inside]) =>
        `${folder}: ${inside.length} files; make sub-folders named after the stages of the flow`,
    );
}

/** Circles of imports among the sub-folders of each part and the files beside them. */
function folderCircles(): string[] {
  const parts = grouped(({ path }) => /^[^/]+\/[^/]+\/(src\/)?/.exec(path)?.[0] ?? '');
  return [...parts].flatMap(([base, inside]) => {
    const nodeOf = (path: string) => path.slice(base.length).split('/')[0] ?? '';
    const graph = new Map<string, Set<string>>();
    for (const { path, imports } of inside) {
      const node = nodeOf(path);
      const targets = imports
        .filter(({ target, isTypeOnly }) => target?.startsWith(base) && !isTypeOnly)
        .map(({ target = '' }) => nodeOf(target));
      graph.set(node, new Set([...(graph.get(node) ?? []), ...targets.filter((target) => target !== node)]));
    }
    return findCircles(graph).map((circle) => `${base}: a circle of imports, ${circle.join(' → ')}`);
  });
}

/** The source files without tests, grouped by a key. */
function grouped(keyOf: (file: SourceFile) => string): Map<string, SourceFile[]> {
  const groups = new Map<string, SourceFile[]>();
  for (const file of files.filter(({ isTest }) => !isTest)) {
    groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  }
  return groups;
}
