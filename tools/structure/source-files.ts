import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Paths are relative to the root of the repository. */
export type SourceFile = { path: string; isTest: boolean; imports: Import[] };

export type Import = {
  specifier: string;
  /** The file that a relative specifier names. */
  target: string | undefined;
  isTypeOnly: boolean;
};

/** The TypeScript and JavaScript files below these folders, without installed and built ones. */
export function readSourceFiles(folders: readonly string[]): SourceFile[] {
  return folders.flatMap(filesBelow).map((path) => ({
    path,
    isTest: /\.test\.tsx?$|\/test\//.test(path),
    imports: importsOf(path),
  }));
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : filesBelow(path);
    return /\.(tsx?|mjs)$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(path: string): Import[] {
  const source = readFileSync(join(root, path), 'utf8');
  const statements = source.matchAll(
    /^(?:import|export)\s(type\s)?(?:[\w$*{},\s]+\sfrom\s)?['"]([^'"]+)['"]/gm,
  );
  const calls = source.matchAll(/\bimport\(\s*()['"]([^'"]+)['"]/g);
  return [...statements, ...calls].map(([, type, specifier = '']) => ({
    specifier,
    target: specifier.startsWith('.') ? relative(root, join(root, dirname(path), specifier)) : undefined,
    isTypeOnly: Boolean(type),
  }));
}
