import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot as root, type AppSource } from '@hqrelay/services/app-process';

/** A change of one built file: exactly one occurrence of `find` becomes `replace`. */
export type Patch = { file: string; find: string; replace: string };

/**
 * Copies what `npm run build` made into `folder`: a build meanwhile changes nothing, and a trial may patch its copy. Throws
 * when a patch does not fit, or when something is not built.
 */
export function copyBuiltApps(folder: string, patches: readonly Patch[] = []): AppSource {
  const ours = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  );
  for (const path of ours.filter((each) => existsSync(join(root, each, 'tsconfig.build.json')))) {
    if (!existsSync(join(root, path, 'dist'))) throw new Error(`${path} is not built: run npm run build`);
    mkdirSync(join(folder, path), { recursive: true });
    cpSync(join(root, path, 'package.json'), join(folder, path, 'package.json'));
    cpSync(join(root, path, 'dist'), join(folder, path, 'dist'), { recursive: true });
  }
  linkDependencies(folder);
  for (const patch of patches) apply(folder, patch);
  return { kind: 'built', folder };
}

/** Others' packages are linked; ours lead into the copy. */
function linkDependencies(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@hqrelay'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.') || name === '@hqrelay') continue;
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@hqrelay', name));
  }
}

function apply(folder: string, { file, find, replace }: Patch): void {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`the patch of ${file} fits ${count} times, not once: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
}
