// Dependencies point one way, packages are entered by their files, and names say something.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

const stores = ['db', 'queue', 'cache', 'runtime', 'outbound'];
const production = [...stores, 'audit', 'projects', 'flow', 'domain'];
const forTests = ['services', 'testing'];

/** Which of our packages each one may import. What stands on one level does not import its neighbours. */
const mayImport: Record<string, readonly string[]> = {
  domain: [],
  flow: ['domain'],
  ...Object.fromEntries(stores.map((name) => [name, ['flow', 'domain']])),
  audit: [...stores, 'flow', 'domain'],
  projects: [...stores, 'flow', 'domain'],
  receiver: production,
  worker: production,
  cli: production,
  services: production,
  testing: [...production, 'services'],
  e2e: [...production, ...forTests],
};

/** All that the pure domain may use of the outside world. */
const domainMayImport = ['zod', 'node:crypto', 'node:net', 'node:buffer'];
const tellingNothing = /^(index|utils?|helpers?|common|types|misc|manager|service)\.ts$/;

const problems: string[] = [];
for (const parent of ['apps', 'packages']) {
  for (const name of readdirSync(join(root, parent))) checkPackage(`${parent}/${name}`, name);
}
checkPackage('tools/services', 'services');
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function checkPackage(folder: string, name: string): void {
  const allowed = mayImport[name];
  if (!allowed) {
    problems.push(`${folder}: give it its place among the dependencies in tools/check-structure.ts`);
    return;
  }
  for (const file of [...filesOf(`${folder}/src`), ...filesOf(`${folder}/test`)]) {
    const isTest = file.endsWith('.test.ts') || file.startsWith(`${folder}/test/`);
    if (tellingNothing.test(basename(file))) problems.push(`${file}: name it after what it exports`);
    for (const specifier of importsOf(file)) {
      const fault = specifier.startsWith('.')
        ? leavesPackage(file, specifier, folder)
        : notAllowed(specifier, name, isTest ? [...allowed, ...forTests] : allowed, isTest);
      if (fault) problems.push(`${file}: ${fault}`);
    }
  }
}

function leavesPackage(file: string, specifier: string, folder: string): string | undefined {
  const target = join(dirname(file), specifier);
  return target.startsWith(`${folder}/`) ? undefined : `"${specifier}" reaches into another package`;
}

function notAllowed(
  specifier: string,
  name: string,
  allowed: readonly string[],
  isTest: boolean,
): string | undefined {
  const imported = /^@hqrelay\/([^/]+)/.exec(specifier)?.[1];
  if (imported !== undefined) {
    return imported === name || allowed.includes(imported)
      ? undefined
      : `${name} may not import @hqrelay/${imported}`;
  }
  return name === 'domain' && !isTest && !domainMayImport.includes(specifier)
    ? `the domain is pure: it may not import ${specifier}`
    : undefined;
}

function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const statements = source.matchAll(/^(?:import|export)\s(?:[\w$*{},\s]+\sfrom\s)?['"]([^'"]+)['"]/gm);
  const calls = source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...calls].map(([, specifier = '']) => specifier);
}

/** All TypeScript files below a folder, as paths from the root. */
function filesOf(folder: string): string[] {
  if (!statSync(join(root, folder), { throwIfNoEntry: false })) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
